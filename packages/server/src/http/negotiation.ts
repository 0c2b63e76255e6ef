/** The content codings that an answer can be compressed with, the preferred one first. */
const CODINGS = ['br', 'gzip'] as const

export type Coding = (typeof CODINGS)[number]

/** Size from which a body is compressed. Below it the headers of a packet weigh more than what would be saved. */
const MIN_COMPRESSED_BYTES = 1_024

/** An alternative of a header that lists what a client accepts, with its quality from 0 (refused) to 1. */
interface Alternative {
  readonly name: string
  readonly quality: number
}

const QUALITY = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/

/**
 * Chooses the coding of a body from an `Accept-Encoding` header (RFC 9110, 12.5.3): the one of the highest quality, for
 * equal ones the first of `CODINGS`. Returns `undefined` for the body as it is: without the header, where the client
 * prefers that, and for a small body unless the client refuses it uncompressed. A client that accepts nothing at all
 * gets the body as it is, too.
 */
export function chooseCoding(header: string | undefined, bodyBytes: number): Coding | undefined {
  if (header === undefined) return undefined
  const qualities = new Map(alternatives(header).map(({ name, quality }) => [codingName(name), quality]))
  const others = qualities.get('*')
  const qualityOf = (coding: string): number => qualities.get(coding) ?? others ?? 0
  const [best] = CODINGS.toSorted((a, b) => qualityOf(b) - qualityOf(a))
  if (best === undefined || qualityOf(best) === 0) return undefined
  const plain = qualities.get('identity') ?? (others === 0 ? 0 : undefined)
  if (plain === 0) return best
  return bodyBytes < MIN_COMPRESSED_BYTES || (plain ?? 0) > qualityOf(best) ? undefined : best
}

/** Returns the name of a coding. `x-gzip` is an old name of gzip. */
function codingName(name: string): string {
  return name === 'x-gzip' ? 'gzip' : name
}

/**
 * Returns true when an `Accept` header prefers HTML to JSON, as those of browsers do: by quality, and for equal
 * qualities by the more exact range. A client that takes both alike is a program.
 */
export function prefersHtml(header: string | undefined): boolean {
  const ranges = alternatives(header ?? '')
  const [html, json] = [acceptanceOf('text/html', ranges), acceptanceOf('application/json', ranges)]
  if (html.quality !== json.quality) return html.quality > json.quality
  return html.quality > 0 && html.exactness > json.exactness
}

interface Acceptance {
  readonly quality: number
  /** 3 for the type by name, 2 for all of its kind (`text/*`), 1 for everything, 0 when no range has it. */
  readonly exactness: number
}

/** Returns the quality of the most exact range that has a media type (RFC 9110, 12.5.1). */
function acceptanceOf(type: string, ranges: readonly Alternative[]): Acceptance {
  const names = ['*/*', type.replace(/\/.*/, '/*'), type]
  for (const [at, name] of [...names.entries()].toReversed()) {
    const qualities = ranges.filter((range) => range.name === name).map(({ quality }) => quality)
    if (qualities.length > 0) return { quality: Math.max(...qualities), exactness: at + 1 }
  }
  return { quality: 0, exactness: 0 }
}

/** Parses a list of alternatives. Other parameters are ignored, and one whose quality is no number is left out. */
function alternatives(header: string): readonly Alternative[] {
  return header.split(',').flatMap((text) => {
    const [name = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2) ?? '1'
    return name === '' || !QUALITY.test(quality) ? [] : [{ name, quality: Number(quality) }]
  })
}
