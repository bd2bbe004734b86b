import { Controller, Get, Header } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProduces, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Public } from '../http/public.decorator.js';
import { ApiProblems } from '../http/api-problems.dto.js';
import { Metrics } from './metrics.js';
import type { ReadyState } from './readiness.js';
import { Readiness } from './readiness.js';

class LiveDto {
  @ApiProperty({ description: 'the process answers', enum: ['live'], example: 'live' })
  status!: string;
}

class ReadyDto {
  @ApiProperty({ description: '`degraded` while something is away and decisions go on', enum: ['ready', 'degraded'], example: 'ready' })
  status!: string;

  @ApiProperty({ description: 'the database', enum: ['up', 'unreachable'], example: 'up' })
  database!: string;

  @ApiProperty({ description: 'Redis, where one is configured', enum: ['up', 'unreachable', 'off'], example: 'up' })
  redis!: string;
}

@ApiTags('health')
@Public()
@Controller()
export class HealthController {
  /** It costs milliseconds where there are many tenants, and needs no key: all who ask meanwhile are told the same. */
  private scraping: Promise<string> | null = null;

  constructor(
    private readonly readiness: Readiness,
    private readonly metrics: Metrics,
  ) {}

  @Get('health/live')
  @ApiOperation({ summary: 'Whether the process lives', description: 'Needs no key and no database.' })
  @ApiOkResponse({ description: 'it does', type: LiveDto })
  live(): LiveDto {
    return { status: 'live' };
  }

  @Get('health/ready')
  @ApiOperation({ summary: 'Whether requests should be sent here', description: 'Says which dependency is wrong, and recovers by itself. Needs no key.' })
  @ApiOkResponse({ description: 'they should', type: ReadyDto })
  @ApiProblems('DATABASE_UNAVAILABLE')
  ready(): Promise<ReadyState> {
    return this.readiness.check();
  }

  @Get('metrics')
  @Header('content-type', 'text/plain; version=0.0.4; charset=utf-8')
  @ApiOperation({ summary: 'Metrics for Prometheus', description: 'Needs no key.' })
  @ApiProduces('text/plain')
  @ApiOkResponse({ description: 'the text exposition format', schema: { type: 'string', example: '# HELP toolcrib_database_up …' } })
  scrape(): Promise<string> {
    this.scraping ??= this.exposed().finally(() => (this.scraping = null));
    return this.scraping;
  }

  private async exposed(): Promise<string> {
    // A look of its own: who scrapes is told of the database also where nobody asks for readiness.
    await this.readiness.check().catch(() => undefined);
    return this.metrics.registry.metrics();
  }
}
