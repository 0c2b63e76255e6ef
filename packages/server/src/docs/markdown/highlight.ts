import { escapeHtml } from './escapeHtml.ts'

const STRING = String.raw`"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'`
const NUMBER = String.raw`\b\d[\d_.]*n?\b`
const WORDS =
  'as|async|await|break|catch|const|continue|else|export|finally|for|from|function|if|import|in|interface|let|new|of|return|throw|try|type|typeof|while'

/** One pattern a language, with a named group for each class of text. */
const PATTERNS: Readonly<Record<string, RegExp>> = {
  json: new RegExp(
    String.raw`(?<name>"(?:[^"\\\n]|\\.)*"(?=\s*:))|(?<text>"(?:[^"\\\n]|\\.)*")|(?<word>\b(?:true|false|null)\b)|(?<number>-?${NUMBER})`,
    'g',
  ),
  js: new RegExp(
    String.raw`(?<note>\/\/[^\n]*)|(?<text>\`(?:[^\`\\]|\\.)*\`|${STRING})|(?<word>\b(?:${WORDS}|true|false|null|undefined)\b)|(?<number>${NUMBER})`,
    'g',
  ),
  sh: new RegExp(String.raw`(?<note>(?<=^|\s)#[^\n]*)|(?<text>${STRING})|(?<name>\$\{?\w+\}?)`, 'gm'),
}

const ALIASES: Readonly<Record<string, string>> = { ts: 'js', mjs: 'js', bash: 'sh' }

/** Code as HTML, with what catches the eye in spans. A language that is not known stays as it is. */
export function highlight(code: string, language: string): string {
  const pattern = PATTERNS[ALIASES[language] ?? language]
  if (pattern === undefined) return escapeHtml(code)
  let html = ''
  let end = 0
  for (const match of code.matchAll(pattern)) {
    const [kind = '', text = ''] = Object.entries(match.groups ?? {}).find(([, value]) => value !== undefined) ?? []
    html += `${escapeHtml(code.slice(end, match.index))}<span class="${kind}">${escapeHtml(text)}</span>`
    end = match.index + match[0].length
  }
  return html + escapeHtml(code.slice(end))
}
