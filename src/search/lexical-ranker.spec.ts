import { describe, expect, it, jest } from '@jest/globals';
import type { SearchDocument } from '../core/search.js';
import { loadGlossary } from './glossary.js';
import { LexicalRanker } from './lexical-ranker.js';

const document = (name: string, more: Partial<SearchDocument> = {}): SearchDocument =>
  ({ name, label: name, description: '', toolset: 'default', source: 's', category: null, keywords: [], parameters: [], ...more });

const ranker = new LexicalRanker();
const found = async (documents: readonly SearchDocument[], query: string, among = documents.map(({ name }) => name)): Promise<string[]> =>
  (await ranker.rank(documents, query, new Set(among))).map(({ name }) => name);

describe('the order of tools', () => {
  const todo = [document('todo', { description: 'Short.' }), document('todo_create', { description: 'todo todo todo: makes a todo in the todo list' }), document('Todo')];

  it('begins with the very name', async () => {
    expect((await found(todo, 'todo'))[0]).toBe('todo');
    expect((await found(todo, 'Todo'))[0]).toBe('Todo');
    expect((await found(todo, ' todo_create '))[0]).toBe('todo_create');
  });

  it('is descending by score, and by place where scores are equal', async () => {
    const same = ['c', 'a', 'b'].map((name) => document(`view_${name}`));
    expect(await found(same, 'view')).toEqual(['view_c', 'view_a', 'view_b']);
    const scores = (await ranker.rank(todo, 'todo list', new Set(['todo', 'todo_create']))).map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(scores.every((score) => score > 0)).toBe(true);
  });

  it('looks at permitted tools alone, the exact name included', async () => {
    const repo = [document('delete_repo'), document('delete_branch', { description: 'Deletes one branch of a repo.' })];
    expect(await found(repo, 'delete_repo', ['delete_branch'])).toEqual(['delete_branch']);
    expect(await found(repo, 'delete_repo', [])).toEqual([]);
    expect(await found([], 'delete_repo')).toEqual([]);
  });

  it('puts a name before a description, and a description before a parameter', async () => {
    const documents = [
      document('a', { parameters: [{ name: 'x', description: 'the calendar' }] }),
      document('b', { description: 'Shows the calendar' }),
      document('calendar_show'),
    ];
    expect(await found(documents, 'calendar')).toEqual(['calendar_show', 'b', 'a']);
  });

  it('knows a tool by its group, its keywords, and its parameters', async () => {
    const documents = [document('x/run', { toolset: 'x', keywords: ['reporting'] }), document('y/run', { toolset: 'y', category: 'backup' }), document('z', { parameters: [{ name: 'maxDepth', description: '' }] })];
    expect(await found(documents, 'run y')).toEqual(['y/run', 'x/run']);
    expect(await found(documents, 'reporting')).toEqual(['x/run']);
    expect(await found(documents, 'backup')).toEqual(['y/run']);
    expect(await found(documents, 'depth')).toEqual(['z']);
  });
});

describe('a word of the query', () => {
  const documents = [document('list_workflows'), document('merge_request'), document('kubernetes_apply', { description: 'Throttles nothing' })];

  it.each([
    ['workflow', 'list_workflows'], ['listing', 'list_workflows'], ['workfl', 'list_workflows'], ['workflwo', 'list_workflows'],
    ['throtle', 'kubernetes_apply'], ['kubernets', 'kubernetes_apply'], ['mergeRequest', 'merge_request'], ['consolidate', 'merge_request'],
  ])('%s finds %s', async (query, name) => expect((await found(documents, query))[0]).toBe(name));

  it('that means nothing finds nothing', async () => expect(await found(documents, 'qzxjwvk')).toEqual([]));

  it('is corrected by what may be found alone', async () => {
    const near = [document('backup_run'), document('bakcup_run')];
    expect(await found(near, 'bakcup', ['backup_run'])).toEqual(['backup_run']);
    expect(await found(near, 'bakcup')).toEqual(['bakcup_run']);
  });
});

describe('languages', () => {
  const chinese = [
    document('read_file', { description: '读取工作区中的文件内容' }), document('web_search', { description: '在互联网上搜索网页' }),
    document('save_memory', { description: '保存用户偏好' }), document('mysql_query', { description: 'Runs a read-only statement.', keywords: ['数据库'] }),
  ];
  const english = [
    document('calendar_create', { description: 'Creates an event in a calendar' }), document('issue_comment', { description: 'Adds a comment to an issue' }),
    document('cluster_delete', { description: 'Deletes a cluster' }), document('git_commit', { description: 'Commits staged changes to the repository' }),
  ];

  it.each([
    ['文件内容', 'read_file'], ['搜索网页', 'web_search'], ['用户偏好', 'save_memory'], ['数据库', 'mysql_query'],
    ['file content', 'read_file'], ['search the internet', 'web_search'], ['user preferences', 'save_memory'], ['檔案', 'read_file'],
  ])('%s finds a tool described in Chinese', async (query, name) => expect((await found(chinese, query))[0]).toBe(name));

  it.each([['添加评论', 'issue_comment'], ['删除集群', 'cluster_delete'], ['提交到仓库', 'git_commit'], ['新建日历事件', 'calendar_create'], ['刪除集群', 'cluster_delete']])(
    '%s finds a tool described in English', async (query, name) => expect((await found(english, query))[0]).toBe(name));

  it('meet in a name that the glossary does not know', async () => {
    expect(await found([document('a', { description: '飞书文档' }), document('b', { description: '写书' })], '飞书')).toEqual(['a', 'b']);
  });
});

describe('a hostile text', () => {
  const strange = ['__proto__', 'constructor', 'toString', '😀', '\ud800', '\u0000', 'x'.repeat(65_536), '文'.repeat(65_536), 'aB1'.repeat(20_000), '\ufdfa'.repeat(10_000)];
  const documents = strange.map((text, i) => document(i < 3 ? text : `t${i}`, { label: text, description: text, keywords: [text], parameters: [{ name: text, description: text }] }));

  it.each(strange)('is a query as any other (%#)', async (query) => expect(await found(documents, query)).toEqual(expect.any(Array)));

  it.each(['__proto__', 'constructor', 'toString'])('may be the name %s', async (name) => expect((await found(documents, name))[0]).toBe(name));

  it.each(['', '   ', '\n\t', '!?…', '😀', '\ud800'])('without a word finds nothing (%j)', async (query) => expect(await found([document('a'), document('b')], query)).toEqual([]));

  it('counts by its beginning', async () => {
    const documents = [document('first'), document('last')];
    expect(await found(documents, `first ${'filler '.repeat(40_000)}last`)).toEqual(['first']);
  });
});

describe('an index', () => {
  it('is built once for an array of documents', async () => {
    const load = jest.fn(loadGlossary);
    const own = new LexicalRanker(load);
    const documents = [document('a')];
    own.prepare(documents);
    await Promise.all([own.rank(documents, 'a', new Set(['a'])), own.rank(documents, 'a', new Set(['a'])), own.rank([...documents], 'a', new Set(['a']))]);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it('that could not be built is built again when it is asked for', async () => {
    const load = jest.fn(loadGlossary).mockRejectedValueOnce(new Error('no such file'));
    const own = new LexicalRanker(load);
    const documents = [document('a')];
    await expect(own.rank(documents, 'a', new Set(['a']))).rejects.toThrow('no such file');
    expect((await own.rank(documents, 'a', new Set(['a']))).map(({ name }) => name)).toEqual(['a']);
  });
});
