import { CHAIN_SLUGS, parseChainSlug, type ChainSlug } from './chains.ts'
import type { Setting } from './settings.ts'

/** A TCP port. 0 lets the system pick a free one, so that several can run at once. */
export function portSetting(of: { what: string; default: number }): Setting<number> {
  return integerSetting({ ...of, min: 0, max: 65_535, note: ' (0 = any free port)' })
}

/** A whole number in decimal digits; the unit belongs into `what`. */
export function integerSetting(of: {
  what: string
  default: number
  min: number
  max: number
  note?: string
}): Setting<number> {
  return {
    what: of.what,
    defaultText: String(of.default),
    defaultValue: of.default,
    allowed: `an integer from ${of.min} to ${of.max}${of.note ?? ''}`,
    parse: (text) => {
      const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
      return value >= of.min && value <= of.max ? value : undefined
    },
  }
}

/** Text of a given form. */
export function textSetting(of: { what: string; default: string; pattern: RegExp; allowed: string }): Setting<string> {
  return {
    what: of.what,
    defaultText: of.default,
    defaultValue: of.default,
    allowed: of.allowed,
    parse: (text) => (of.pattern.test(text) ? text : undefined),
  }
}

/** Address of a server to ask, without a slash at its end; the program works out its own when it is not set. */
export function urlSetting(of: { what: string; defaultText: string }): Setting<string | undefined> {
  return { ...of, defaultValue: undefined, allowed: 'an http or https address', parse: parseServerUrl }
}

/** The address of a server as one to put paths behind: http or https, no query, no slash at its end. */
export function parseServerUrl(text: string): string | undefined {
  const url = URL.parse(text)
  const isServer = url !== null && ['http:', 'https:'].includes(url.protocol) && url.search === '' && url.hash === ''
  return isServer ? url.href.replace(/\/+$/, '') : undefined
}

/** The address to listen on. Not public by default: whoever wants that says so. */
export function hostSetting(): Setting<string> {
  return textSetting({
    what: 'address to listen on',
    default: '127.0.0.1',
    pattern: /^[A-Za-z0-9.:-]{1,253}$/,
    allowed: 'an IP address or a host name',
  })
}

/** What nobody may see: whatever it says is taken here, so that no complaint repeats it, and judged where it is used. */
export function secretSetting(of: { what: string }): Setting<string | undefined> {
  return { ...of, defaultText: 'none', defaultValue: undefined, allowed: 'any text', parse: (text) => text }
}

/** One of a few words. */
export function choiceSetting<const Choice extends string>(of: {
  what: string
  default: NoInfer<Choice>
  choices: readonly Choice[]
}): Setting<Choice> {
  return {
    what: of.what,
    defaultText: of.default,
    defaultValue: of.default,
    allowed: `one of ${of.choices.join(', ')}`,
    parse: (text) => of.choices.find((choice) => choice === text),
  }
}

/** Path of a file or folder; `default` is only its description when the program derives it from other settings. */
export function pathSetting<const Default extends string | undefined>(of: {
  what: string
  default: Default
  defaultText?: string
}): Setting<string | Default> {
  return {
    what: of.what,
    defaultText: of.defaultText ?? of.default,
    defaultValue: of.default,
    allowed: 'a path without NUL characters',
    parse: (text) => (text.includes('\0') ? undefined : text),
  }
}

/** A comma-separated list of chain slugs, each at most once; all of them by default. */
export function chainsSetting(of: { what: string }): Setting<readonly ChainSlug[]> {
  return {
    what: of.what,
    defaultText: CHAIN_SLUGS.join(','),
    defaultValue: CHAIN_SLUGS,
    allowed: `a comma-separated list without repetition of ${CHAIN_SLUGS.join(', ')}`,
    parse: (text) => {
      const slugs = text.split(',').map((part) => parseChainSlug(part.trim()))
      const isUnique = new Set(slugs).size === slugs.length
      return isUnique && slugs.every((slug) => slug !== undefined) ? slugs : undefined
    },
  }
}
