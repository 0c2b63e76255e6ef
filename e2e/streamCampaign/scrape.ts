/** The service's metrics of its WebSockets. */
export interface StreamMetrics {
  readonly sockets: number
  /** Subscriptions by channel; channels without any are left out. */
  readonly subscriptions: Readonly<Record<string, number>>
  /** Closed sockets by close code. */
  readonly closed: Readonly<Record<string, number>>
}

export async function scrape(url: string): Promise<StreamMetrics> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return {
    sockets: Number(/^bezel_stream_sockets (\d+)$/m.exec(text)?.[1]),
    subscriptions: labelled(text, 'bezel_stream_subscriptions'),
    closed: labelled(text, 'bezel_stream_closed_total'),
  }
}

function labelled(text: string, name: string): Record<string, number> {
  const lines = text.matchAll(new RegExp(`^${name}\\{\\w+="(\\w+)"\\} (\\d+)$`, 'gm'))
  const values = [...lines].map(([, label, value]) => [label!, Number(value)] as const)
  return Object.fromEntries(values.filter(([, value]) => value > 0))
}
