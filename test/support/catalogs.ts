import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

export interface McpCatalog {
  readonly server: string;
  readonly tools: readonly { readonly name: string }[];
}

const MCP_FOLDER = path.resolve('../shared/catalogs/mcp');

/** The tool lists of real MCP servers, where they lie beside the project; empty elsewhere. */
export const mcpCatalogs = (): McpCatalog[] =>
  existsSync(MCP_FOLDER) ? readdirSync(MCP_FOLDER).filter((file) => file.endsWith('.json')).sort().map((file) => JSON.parse(readFileSync(path.join(MCP_FOLDER, file), 'utf8')) as McpCatalog) : [];

export const mcpSync = ({ server, tools }: McpCatalog): object => ({ source: server, namespace: server, format: 'mcp', mode: 'full', tools });

export const example = (name: 'catalog' | 'agents'): any => JSON.parse(readFileSync(`examples/${name}.json`, 'utf8'));
