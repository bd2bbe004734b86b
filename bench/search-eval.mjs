// How well tools are found: `npm run eval:search [-- FOLDER]`. FOLDER (or SEARCH_EVAL) holds `queries.json`, the scorer
// `eval.mjs`, and beside it `catalogs/mcp`; without one, `../shared/search-eval`. `--misses` also lists what was not found.
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { catalogTool } from '../dist/core/catalog.js';
import { readDeclaration } from '../dist/core/declaration-reader.js';
import { searchDocumentOf } from '../dist/core/search.js';
import { LexicalRanker } from '../dist/search/lexical-ranker.js';

const folder = path.resolve(process.argv.slice(2).find((arg) => !arg.startsWith('--')) ?? process.env.SEARCH_EVAL ?? '../shared/search-eval');
const catalogs = path.resolve(folder, '../catalogs/mcp');
for (const needed of [path.join(folder, 'queries.json'), path.join(folder, 'eval.mjs'), catalogs]) {
  if (existsSync(needed)) continue;
  console.error(`nothing to score with: \`${needed}\` is not there; name the folder of queries as the argument or in SEARCH_EVAL`);
  process.exit(1);
}

const json = (file) => JSON.parse(readFileSync(file, 'utf8'));
const queries = json(path.join(folder, 'queries.json'));
const { score } = await import(pathToFileURL(path.join(folder, 'eval.mjs')).href);
const documents = readdirSync(catalogs).filter((file) => file.endsWith('.json')).sort().flatMap((file) => documentsOf(json(path.join(catalogs, file))));
const names = new Set(documents.map(({ name }) => name));

const ranker = new LexicalRanker();
const results = {};
for (const { id, query } of queries) results[id] = (await ranker.rank(documents, query, names)).map(({ name }) => name);

print('all', queries);
// Whatever was tuned was tuned on one half; the other shows what carries over.
[['even', 0], ['odd', 1]].forEach(([title, rest]) => print(`${title} ids`, queries.filter(({ id }) => Number(id.slice(1)) % 2 === rest)));
if (process.argv.includes('--misses')) {
  for (const { id, query, targets } of queries) {
    const at = results[id].findIndex((name) => targets.includes(name));
    if (at < 0 || at >= 5) console.log(`${id} ${query}: ${targets.join(', ')} at ${at + 1}; first ${results[id].slice(0, 3).join(', ')}`);
  }
}

/** As a sync with `format: mcp, namespace: SERVER` stores them. */
function documentsOf({ server, tools }) {
  return tools.map((tool) => {
    const declaration = readDeclaration(tool, `${server}/${tool.name}`, { format: 'mcp', defaultToolset: server });
    return searchDocumentOf(catalogTool({ name: declaration.name, source: server, available: true, declaration, governance: {}, revision: 1 }));
  });
}

function print(title, some) {
  console.log(`\n${title.padEnd(9)}    n  recall@1  recall@5  MRR@5`);
  for (const { group, n, recall1, recall5, mrr5 } of score(some, results).rows) {
    console.log(`${group.padEnd(9)} ${String(n).padStart(4)}  ${recall1.toFixed(3).padStart(8)}  ${recall5.toFixed(3).padStart(8)}  ${mrr5.toFixed(3).padStart(5)}`);
  }
}
