import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import prettierSettings from '../.prettierrc.json' with { type: 'json' }

/** First words of a clause without its noun: a reader who meets the comment cold can't know what it is about. */
const RIDDLES = /^(?:What|Whether|Who|Whom|Whose|Of|As|Those|It)\b/

const DOC_COMMENT = /\/\*\*([\s\S]*?)\*\//g
const COMMENT_LINE = /^\s*(?:\/\/|\/\*|\*)/

interface Place {
  readonly file: string
  readonly line: number
  readonly text: string
}

describe('comments', () => {
  const files = globSync('{packages,contracts,e2e,bench,scripts,examples}/**/*.{ts,tsx,mjs}', {
    exclude: (name) => /node_modules|artifacts/.test(name),
  })
  const places = files.flatMap((file) => docComments(file, readFileSync(file, 'utf8')))

  it('open with the noun or the verb of the thing', () => {
    assert.deepEqual(places.filter(isRiddle).map(shown), [])
  })

  it('are no wider than the formatter makes the code', () => {
    const wide = files.flatMap((file) => wideLines(file, readFileSync(file, 'utf8')))
    assert.deepEqual(wide.map(shown), [])
  })

  it('would be shown when they are riddles, or too wide', () => {
    const [riddle] = docComments('a.ts', '/** Of one try, 30 s. */\n')
    const [plain] = docComments('a.ts', '/**\n * Timeout of one attempt. Default 30 s.\n */\n')
    assert.deepEqual([isRiddle(riddle!), isRiddle(plain!)], [true, false])
    assert.equal(wideLines('a.ts', `code()\n// ${'x'.repeat(prettierSettings.printWidth)}\n`).length, 1)
  })
})

function docComments(file: string, text: string): Place[] {
  return [...text.matchAll(DOC_COMMENT)].map((match) => ({
    file,
    line: text.slice(0, match.index).split('\n').length,
    text: match[1]!.replace(/^[\s*]+/, ''),
  }))
}

function wideLines(file: string, text: string): Place[] {
  const lines = text.split('\n').map((line, index) => ({ file, line: index + 1, text: line }))
  return lines.filter((place) => COMMENT_LINE.test(place.text) && place.text.length > prettierSettings.printWidth)
}

function isRiddle({ text }: Place): boolean {
  return RIDDLES.test(text)
}

function shown({ file, line, text }: Place): string {
  return `${file}:${line} ${text.trim().slice(0, 60)}`
}
