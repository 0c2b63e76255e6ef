import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'

const css = readFileSync(new URL('./theme.css', import.meta.url), 'utf8')

/** Returns the colours of a theme by name. */
function coloursOf(theme: 'dark' | 'light'): ReadonlyMap<string, string> {
  const block = new RegExp(`data-theme='${theme}'\\] \\{([^}]*)\\}`).exec(css)![1]!
  return new Map([...block.matchAll(/(--[\w-]+): (#[0-9a-f]{6});/g)].map(([, name, colour]) => [name!, colour!]))
}

/** Returns the relative luminance of WCAG 2. */
function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light! + 0.05) / (dark! + 0.05)
}

const SURFACES = ['--bg', '--surface', '--surface-2', '--surface-3']
const SOFT = ['--accent-soft', '--up-soft', '--down-soft', '--warn-soft']
const FILLS = ['--accent-fill', '--up-fill', '--down-fill']

/** Text and what it stands on. */
const PAIRS: readonly (readonly [text: string, ground: string])[] = [
  ...[...SURFACES, ...SOFT].flatMap((ground) => [['--text', ground] as const, ['--text-muted', ground] as const]),
  ...['--accent', '--up', '--down', '--warn'].flatMap((text) =>
    SURFACES.slice(0, 3).map((ground) => [text, ground] as const),
  ),
  ['--accent', '--accent-soft'],
  ['--up', '--up-soft'],
  ['--down', '--down-soft'],
  ['--warn', '--warn-soft'],
  ...FILLS.flatMap((fill) => [['--on-fill', fill] as const, ['--on-fill', `${fill}-hover`] as const]),
]

for (const theme of ['dark', 'light'] as const) {
  describe(`the ${theme} theme`, () => {
    const colours = coloursOf(theme)

    it('has a contrast of 4.5 : 1 for all text', () => {
      const poor = PAIRS.map(([text, ground]) => [text, ground, contrast(colours.get(text)!, colours.get(ground)!)])
      assert.deepEqual(
        poor.filter(([, , ratio]) => Number(ratio) < 4.5),
        [],
      )
    })

    it('has a contrast of 3 : 1 for the frames of fields', () => {
      for (const ground of SURFACES.slice(0, 2)) {
        assert.ok(contrast(colours.get('--border-strong')!, colours.get(ground)!) >= 3, ground)
      }
    })
  })
}

describe('both themes', () => {
  it('name the same colours', () => {
    assert.deepEqual([...coloursOf('dark').keys()], [...coloursOf('light').keys()])
  })
})
