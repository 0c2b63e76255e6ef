import { match } from 'node:assert/strict'
import { it } from 'node:test'
import { createStreamCounts } from '../stream/streamCounts.ts'
import { createMetrics } from './createMetrics.ts'
import { watchStream } from './watchStream.ts'

it('tells what the sockets count, as it is at the scrape', async () => {
  const metrics = createMetrics()
  const counts = createStreamCounts()
  watchStream(metrics, counts)
  await metrics.registry.metrics()
  counts.sockets = 3
  counts.closed.set('4429', 2)
  Object.assign(counts.channels.prices, { subscriptions: 4, sent: 50, snapshots: 6 })
  const text = await metrics.registry.metrics()
  match(text, /^bezel_stream_sockets 3$/m)
  match(text, /^bezel_stream_subscriptions\{channel="prices"\} 4$/m)
  match(text, /^bezel_stream_messages_total\{channel="prices"\} 50$/m)
  match(text, /^bezel_stream_messages_total\{channel="orders"\} 0$/m)
  match(text, /^bezel_stream_snapshots_total\{channel="prices"\} 6$/m)
  match(text, /^bezel_stream_closed_total\{code="4429"\} 2$/m)
})
