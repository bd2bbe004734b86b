// English and Chinese texts of the same user interfaces, out of published packages.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import YAML from 'yaml';

/** Name and version, licence. */
export const PACKAGES = [
  ['@codingame/monaco-vscode-language-pack-zh-hans@25.1.2', 'MIT'],
  ['@codingame/monaco-vscode-language-pack-qps-ploc@25.1.2', 'MIT'],
  ['@rancher/shell@3.0.13', 'Apache-2.0'],
  ['@univerjs/sheets-ui@1.0.0', 'Apache-2.0'],
  ['@univerjs/ui@1.0.0', 'Apache-2.0'],
  ['@payloadcms/translations@3.90.2', 'MIT'],
  ['@node-red/editor-client@5.0.7', 'Apache-2.0'],
];

/** `[english, chinese]` pairs. `folderOf` says where a package lies unpacked. */
export async function parallelTexts(folderOf) {
  const pairs = [];
  const together = (english, chinese) => {
    if (typeof english === 'string' && typeof chinese === 'string') {
      if (/\p{Script=Han}/u.test(chinese) && english.length < 400) pairs.push([english, chinese]);
    } else if (english && chinese && typeof english === 'object') {
      for (const key of Object.keys(english)) if (Object.hasOwn(chinese, key)) together(english[key], chinese[key]);
    }
  };
  const module = async (file) => import(file);
  const json = (file) => JSON.parse(readFileSync(file, 'utf8'));

  visualStudioCode(folderOf('@codingame/monaco-vscode-language-pack-zh-hans'), folderOf('@codingame/monaco-vscode-language-pack-qps-ploc'), together, json);
  const rancher = path.join(folderOf('@rancher/shell'), 'assets/translations');
  together(...['en-us', 'zh-hans'].map((language) => YAML.parse(readFileSync(path.join(rancher, `${language}.yaml`), 'utf8'))));
  for (const name of ['@univerjs/sheets-ui', '@univerjs/ui']) {
    const [english, chinese] = await Promise.all(['en-US', 'zh-CN'].map((language) => module(path.join(folderOf(name), 'lib/es/locale', `${language}.js`))));
    together(english.default, chinese.default);
  }
  const [english, chinese] = await Promise.all(['en', 'zh'].map((language) => module(path.join(folderOf('@payloadcms/translations'), 'dist/languages', `${language}.js`))));
  together(english.en, chinese.zh);
  const red = path.join(folderOf('@node-red/editor-client'), 'locales');
  for (const file of readdirSync(path.join(red, 'zh-CN')).filter((name) => name.endsWith('.json'))) together(json(path.join(red, 'en-US', file)), json(path.join(red, 'zh-CN', file)));
  return pairs;
}

/** The pack has no English, but a pseudo-language that is English with other letters; both are lists in the same order. */
function visualStudioCode(chinese, pseudo, together, json) {
  const [zh, qps] = [chinese, pseudo].map((folder) => messagesIn(path.join(folder, 'translations/main.i18n.json.js')));
  qps.forEach((text, i) => together(text && plain(text), zh[i]));
  for (const file of readdirSync(path.join(chinese, 'translations/extensions'))) {
    const [theirs, english] = [chinese, pseudo].map((folder) => json(path.join(folder, 'translations/extensions', file)).contents);
    for (const [section, texts] of Object.entries(theirs)) {
      for (const [key, text] of Object.entries(texts)) {
        const original = section === 'bundle' ? key : english[section]?.[key];
        if (original) together(section === 'bundle' ? original : plain(original), text);
      }
    }
  }
}

const messagesIn = (file) => new Function(`${readFileSync(file, 'utf8').replace(/export[\s\S]*$/u, '')};return content;`)();

const LETTERS = new Map(Object.entries({ ø: 'o', Ø: 'O', æ: 'a', Æ: 'A', ð: 'd', Ð: 'D', þ: 'b', Þ: 'B', µ: 'u', '§': 'S', ß: 'b', '£': 'L' }));
const plain = (text) => Array.from(text, (letter) => LETTERS.get(letter) ?? letter.normalize('NFKD').replace(/\p{M}/gu, '')).join('');
