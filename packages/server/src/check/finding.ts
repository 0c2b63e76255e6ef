/** Judgement of a check. Only a failure has to be mended before the service is started. */
export type Mark = 'ok' | 'note' | 'warning' | 'failure'

/** The outcome of one check. */
export interface Finding {
  /** Name of the check in a few words, the same in every run. */
  readonly check: string
  readonly mark: Mark
  /** One or two sentences. Those of a warning or a failure end with what to do. */
  readonly text: string
}

/** The findings about one thing of a group, such as a provider. */
export interface Section {
  /** The thing in a few words; `undefined` for the group as a whole. */
  readonly subject: string | undefined
  readonly findings: readonly Finding[]
}

/** The findings about a chain, the price feed, or this machine. */
export interface Group {
  readonly title: string
  readonly sections: readonly Section[]
}

/** All findings of a run. */
export interface Report {
  /** True when nothing has to be mended. */
  readonly ok: boolean
  readonly failures: number
  readonly warnings: number
  readonly groups: readonly Group[]
}

/** Tells what is being checked, for people who wait. */
export type Progress = (what: string) => void

export const ok = (check: string, text: string): Finding => ({ check, mark: 'ok', text })

export const note = (check: string, text: string): Finding => ({ check, mark: 'note', text })

export const warning = (check: string, text: string): Finding => ({ check, mark: 'warning', text })

export const failure = (check: string, text: string): Finding => ({ check, mark: 'failure', text })

export function reportOf(groups: readonly Group[]): Report {
  const marks = groups.flatMap(({ sections }) => sections).flatMap(({ findings }) => findings.map(({ mark }) => mark))
  const failures = marks.filter((mark) => mark === 'failure').length
  return { ok: failures === 0, failures, warnings: marks.filter((mark) => mark === 'warning').length, groups }
}

/**
 * Returns the name of a server for people: what it is, its number, and the host of its address. The rest of an address
 * may hold a key.
 */
export function serverName(what: string, number: number, url: string): string {
  return `${what} ${number} (${hostOf(url)})`
}

/** Returns the host of an address, without user, path and query. */
export function hostOf(url: string): string {
  return URL.parse(url)?.host ?? 'no address'
}

/** The most characters of a foreign text in a sentence. */
const MAX_QUOTE_CHARS = 120

/** The fewest characters of a part of an address that is taken for a key when a text repeats it. */
const MIN_SECRET_CHARS = 5

/**
 * Returns the words of a server as part of a sentence: in one line, shortened, and without any part of its address that
 * may be a key.
 */
export function quoted(words: string, url: string): string {
  const { username = '', password = '', pathname = '', search = '' } = URL.parse(url) ?? {}
  const parts = [username, password, ...pathname.split('/'), ...search.split(/[?&=]/)]
  const secrets = parts.filter((part) => part.length >= MIN_SECRET_CHARS)
  const clean = secrets
    .flatMap((secret) => [secret, decoded(secret)])
    .reduce((text, secret) => text.replaceAll(secret, '***'), words)
    .replace(/\b(?:https?|wss?):\/\/[^\s"'<>]+/gi, (address) => hostOf(address))
    // oxlint-disable-next-line no-control-regex
    .replace(/[\s\u0000-\u001f\u007f-\u009f]+/g, ' ')
    .trim()
  return clean.length <= MAX_QUOTE_CHARS ? clean : `${clean.slice(0, MAX_QUOTE_CHARS - 1)}…`
}

/** Returns a part of an address as it was before its signs were encoded, or as it is where that makes no sense. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Returns a count with its noun: `1 block`, `1,000 blocks`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en-US')} ${noun}${count === 1 ? '' : 's'}`
}

const MS_PER_SECOND = 1_000
const MS_PER_MINUTE = 60_000
const MS_PER_HOUR = 3_600_000

/** Returns a length of time in its largest fitting unit: `12 ms`, `3.5 s`, `10 minutes`, `2 hours`. */
export function lengthOf(ms: number): string {
  if (ms < MS_PER_SECOND) return `${Math.round(ms)} ms`
  if (ms < 2 * MS_PER_MINUTE) return `${Number((ms / MS_PER_SECOND).toFixed(1))} s`
  if (ms < 2 * MS_PER_HOUR) return counted(Math.round(ms / MS_PER_MINUTE), 'minute')
  return counted(Math.round(ms / MS_PER_HOUR), 'hour')
}
