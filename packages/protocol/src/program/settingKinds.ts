import { CHAIN_SLUGS, parseChainSlug, type ChainSlug } from '../values/chains.ts'
import type { Setting } from './settings.ts'

/** A setting for a TCP port. 0 lets the system pick a free one, so that several programs can run at once. */
export function portSetting(of: { what: string; default: number }): Setting<number> {
  return integerSetting({ ...of, min: 0, max: 65_535, note: ' (0 = any free port)' })
}

/** A setting for a whole number in decimal digits. `what` names the unit. */
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

/** A setting for text that matches a pattern. */
export function textSetting(of: { what: string; default: string; pattern: RegExp; allowed: string }): Setting<string> {
  return {
    what: of.what,
    defaultText: of.default,
    defaultValue: of.default,
    allowed: of.allowed,
    parse: (text) => (of.pattern.test(text) ? text : undefined),
  }
}

/**
 * A setting for the address of another server, without a slash at the end. When it is not set, the program works out
 * its own.
 */
export function urlSetting(of: { what: string; defaultText: string }): Setting<string | undefined> {
  return { ...of, defaultValue: undefined, allowed: 'an http or https address', parse: parseServerUrl }
}

/** Parses the address of a server: http or https, no query, no slash at the end, so that paths can be appended. */
export function parseServerUrl(text: string): string | undefined {
  const url = URL.parse(text)
  const isServer = url !== null && ['http:', 'https:'].includes(url.protocol) && url.search === '' && url.hash === ''
  return isServer ? url.href.replace(/\/+$/, '') : undefined
}

/** The setting for the address to listen on. Local by default; a public one must be chosen. */
export function hostSetting(): Setting<string> {
  return textSetting({
    what: 'address to listen on',
    default: '127.0.0.1',
    pattern: /^[A-Za-z0-9.:-]{1,253}$/,
    allowed: 'an IP address or a host name',
  })
}

/** A setting for a secret. Any text is accepted here, so that no complaint repeats it, and checked where it is used. */
export function secretSetting(of: { what: string }): Setting<string | undefined> {
  return { ...of, defaultText: 'none', defaultValue: undefined, allowed: 'any text', parse: (text) => text }
}

/** A setting with a few allowed words. */
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

/**
 * A setting for the path of a file or folder. `defaultText` describes a default that the program derives from other
 * settings.
 */
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

/** A setting for a comma-separated list of chain slugs without repetition. Default: all chains. */
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
