/** The interference with one request; `undefined` leaves it alone. */
export interface Meddling {
  /** Called before the request is sent. A throw loses the request. */
  readonly before?: (method: string, path: string) => void
  /** Called after the request was carried out. A throw loses the answer; a value replaces its JSON. */
  readonly after?: (method: string, path: string, body: unknown) => unknown
}

/** Returns the real fetch with a faulty network or service in between. */
export function meddlingFetch({ before, after }: Meddling): typeof globalThis.fetch {
  return async (input, init) => {
    const path = new URL(String(input)).pathname
    const method = init?.method ?? 'GET'
    before?.(method, path)
    const answer = await globalThis.fetch(input, init)
    const body = (await answer.json()) as unknown
    const changed = after?.(method, path, body)
    const { status, headers } = answer
    return new Response(JSON.stringify(changed ?? body), {
      status,
      headers: { ...Object.fromEntries(headers), 'content-encoding': 'identity' },
    })
  }
}
