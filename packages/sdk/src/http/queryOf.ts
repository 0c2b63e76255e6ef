/** A query string of what is given, in the order given; empty when nothing is. */
export function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  if (given.length === 0) return ''
  return `?${given.map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`).join('&')}`
}
