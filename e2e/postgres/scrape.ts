/** The labels of a series; `null` while none of its values is there. */
export type Labels = ReadonlySet<string> | null

/** Labels that Prometheus adds to whatever it scrapes. */
const SCRAPER_LABELS: readonly string[] = ['instance', 'job']
/** Series that Prometheus makes itself. */
const SCRAPER_SERIES = 'up'
/** Endings of the series that a histogram has. */
const HISTOGRAM_ENDINGS = ['_bucket', '_sum', '_count'] as const

const SERIES_NAME = /(?<![\w$])(?:bezel_|process_|nodejs_)\w+|(?<![\w$])up(?=\{)/g

/** Reads the series of several scrapes in the text format of Prometheus, with the labels of their values. */
export function readScrape(texts: readonly string[]): Map<string, Labels> {
  const known = new Map<string, Labels>([[SCRAPER_SERIES, new Set()]])
  const lines = texts.flatMap((text) => text.split('\n'))
  for (const [, name, type] of lines.flatMap((line) => [...line.matchAll(/^# TYPE (\w+) (\w+)$/g)])) {
    const names = type === 'histogram' ? HISTOGRAM_ENDINGS.map((ending) => `${name}${ending}`) : [name!]
    for (const one of names) known.set(one, known.get(one) ?? null)
  }
  for (const [, name, labels = ''] of lines.flatMap((line) => [...line.matchAll(/^(\w+)(?:\{(.*)\})? \S+$/g)])) {
    known.set(name!, new Set([...(known.get(name!) ?? []), ...namesIn(labels)]))
  }
  return known
}

/** Returns the names of series without the endings of histograms. */
export function seriesOf(scraped: ReadonlyMap<string, Labels>): Set<string> {
  const histograms = [...scraped.keys()].filter((name) => name.endsWith('_bucket')).map((name) => name.slice(0, -7))
  const isPart = (name: string): boolean =>
    histograms.some((own) => HISTOGRAM_ENDINGS.some((ending) => name === own + ending))
  return new Set([...histograms, ...[...scraped.keys()].filter((name) => !isPart(name))])
}

/** Reads the table of series in the guide for operators: their names, and their labels. */
export function documentedLabels(guide: string): Map<string, Labels> {
  const numbers = /^## The numbers\n(.*?)^## /ms.exec(guide)![1]!
  const rows = [...numbers.matchAll(/^\| (`bezel_.*?) \| (.*?) \|/gm)]
  return new Map(
    rows.flatMap(([, names, labels]) =>
      quoted(names!).map((name) => [name, new Set(quoted(labels!.replaceAll(/\([^)]*\)/g, '')))] as const),
    ),
  )
}

const quoted = (text: string): string[] => [...text.matchAll(/`(\w+)`/g)].map(([, word]) => word!)

const namesIn = (matchers: string): string[] =>
  [...matchers.matchAll(/(\w+)\s*(?:=|!=|=~|!~)\s*"(?:[^"\\]|\\.)*"/g)].map(([, name]) => name!)

/** Returns what an expression, and the text beside its values, name that is not there. Each side of an `or` is one. */
export function wrongNames(
  { expr, text }: { readonly expr: string; readonly text: string },
  known: ReadonlyMap<string, Labels>,
): string[] {
  return expr.split(/\bor\b/).flatMap((side) => wrongNamesOfSide({ expr: side, text }, known))
}

function wrongNamesOfSide(
  { expr, text }: { readonly expr: string; readonly text: string },
  known: ReadonlyMap<string, Labels>,
): string[] {
  const grouped = [...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, list]) => list!.split(/\s*,\s*/))
  const found = [...expr.matchAll(SERIES_NAME)].map((match) => {
    const [, matchers = ''] = /^\{([^}]*)\}/.exec(expr.slice(match.index + match[0].length)) ?? []
    return { name: match[0], named: [...namesIn(matchers), ...grouped] }
  })
  if (found.length === 0) return ['no series']
  const labelsOf = (name: string): string[] => [...SCRAPER_LABELS, ...(known.get(name) ?? [])]
  const wrong = found.flatMap(({ name, named }) => {
    if (!known.has(name)) return [`no series ${name}`]
    return named.filter((label) => !labelsOf(name).includes(label)).map((label) => `${name} has no label ${label}`)
  })
  // `group_right` keeps the labels of what stands on its right.
  const isGrouped = /\bby\s*\(/.test(expr) && !expr.includes('group_right')
  const added = [...expr.matchAll(/\blabel_replace\(.*?\), "(\w+)"/gs)].map(([, label]) => label!)
  const shown = [...added, ...(isGrouped ? grouped : found.flatMap(({ name }) => labelsOf(name)))]
  const inText = [...text.matchAll(/\{\{\s*(?:\$labels\.)?(\w+)\s*\}\}/g)].map(([, label]) => label!)
  return [
    ...wrong,
    ...inText.filter((label) => !shown.includes(label)).map((label) => `the text has no label ${label}`),
  ]
}
