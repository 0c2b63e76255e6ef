/** A request of an `.http` file. */
export interface CollectionRequest {
  readonly name: string
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/**
 * Parses an `.http` file as editors do: variables first, then requests behind lines that begin with `###`. The given
 * variables replace those of the file. Throws for a variable that nobody has set.
 */
export function parseCollection(text: string, variables: Readonly<Record<string, string>> = {}): CollectionRequest[] {
  const [head = '', ...requests] = text.split(/^###.*\n/m)
  const own = [...head.matchAll(/^@(\w+) = (.*)$/gm)].map(([, name, value]) => [name!, value!])
  const values: Readonly<Record<string, string>> = { ...Object.fromEntries(own), ...variables }
  const filled = requests.map((request) =>
    request.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
      const value = values[name]
      if (value === undefined) throw new Error(`the file has no variable ${name}`)
      return value
    }),
  )
  return filled.map(parseRequest)
}

function parseRequest(text: string): CollectionRequest {
  const name = /^# @name (\w+)$/m.exec(text)?.[1]
  const lines = text.split('\n').filter((line) => !line.startsWith('#'))
  const end = lines.indexOf('')
  const [start = '', ...headers] = lines.slice(0, end)
  const [method, url] = start.split(' ')
  if (name === undefined || method === undefined || url === undefined) throw new Error(`this is no request: ${text}`)
  const body = lines.slice(end).join('\n').trim()
  return {
    name,
    method,
    url,
    headers: Object.fromEntries(headers.map((line) => line.split(': '))),
    ...(body === '' ? {} : { body }),
  }
}
