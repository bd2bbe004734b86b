import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { catalogTool } from '../dist/core/catalog.js';
import { readDeclaration } from '../dist/core/declaration-reader.js';
import { searchDocumentOf } from '../dist/core/search.js';
import { LexicalRanker } from '../dist/search/lexical-ranker.js';
import { example } from './support.mjs';

const CATALOGS = new URL('../../shared/catalogs/mcp/', import.meta.url);
const SOME_CHINESE = ['读取文件的内容', '新建一个日历事件', '删除数据库里的记录', '搜索网页', '查看最近的日志', '给任务添加评论'];
const QUERIES = 2_000;

/** What stands beside the project, else the example, repeated under other names up to `count`. */
function documentsOf(count) {
  const catalogs = existsSync(CATALOGS)
    ? readdirSync(CATALOGS).filter((file) => file.endsWith('.json')).map((file) => JSON.parse(readFileSync(new URL(file, CATALOGS), 'utf8')))
    : [{ server: 'example', tools: example('catalog').tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })) }];
  const tools = catalogs.flatMap(({ server, tools }) => tools.map((tool) => ({ server, tool })));
  return Array.from({ length: count }, (_, i) => {
    const { server, tool } = tools[i % tools.length];
    const name = `${server}/${tool.name}${i < tools.length ? '' : `_${i}`}`;
    return searchDocumentOf(catalogTool({
      name, source: server, available: true, governance: {}, revision: 1, declaration: readDeclaration(tool, name, { format: 'mcp', defaultToolset: server }),
    }));
  });
}

/** Six words out of each description in turn, and Chinese ones between. */
const queriesFor = (documents) => Array.from({ length: QUERIES }, (_, i) => (i % 5 === 0
  ? SOME_CHINESE[(i / 5) % SOME_CHINESE.length]
  : documents[(i * 7) % documents.length].description.split(/\s+/u).slice(0, 6).join(' ')));

const milliseconds = (values, share) => [...values].sort((a, b) => a - b)[Math.floor(values.length * share)].toFixed(2);

/** The longest that another request waited while `work` ran. */
async function longestWait(work) {
  let [last, longest] = [performance.now(), 0];
  const watch = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await work;
  clearInterval(watch);
  return longest;
}

/** Building an index, and queries over all tools and over a tenth of them, in process. */
export async function benchSearch() {
  const ranker = new LexicalRanker();
  const first = performance.now();
  await ranker.rank([], 'a', new Set());
  console.log(`the glossary, once a process: ${(performance.now() - first).toFixed(0)} ms`);
  for (const count of [1_000, 5_000]) {
    const documents = documentsOf(count);
    const names = documents.map(({ name }) => name);
    const start = performance.now();
    const wait = await longestWait(ranker.rank(documents, 'a', new Set()));
    console.log(`index of ${count} tools: ${(performance.now() - start).toFixed(0)} ms, others waited ${wait.toFixed(0)} ms at most`);
    for (const among of [new Set(names), new Set(names.filter((_, i) => i % 10 === 0))]) {
      const times = [];
      for (const query of queriesFor(documents)) {
        const at = performance.now();
        await ranker.rank(documents, query, among);
        times.push(performance.now() - at);
      }
      console.log(`query, ${count} tools, ${among.size} permitted: p50 ${milliseconds(times, 0.5)} ms, p99 ${milliseconds(times, 0.99)} ms`);
    }
  }
}
