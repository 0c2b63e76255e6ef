import { until } from '@bezel/testkit/until.ts'
import { WebSocket } from 'ws'

/**
 * Subscribes a socket of the facade to channels about a user, one after another. Returns the answer to each by the name
 * of the channel: `ok`, or `error` with the text of the refusal.
 */
export async function subscribeRaw(
  url: string,
  channels: readonly string[],
  user: string,
): Promise<ReadonlyMap<string, string>> {
  const socket = new WebSocket(url.replace(/^http/, 'ws'))
  const answers = new Map<string, string>()
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as { readonly channel: string; readonly data: unknown }
    if (message.channel !== 'subscriptionResponse' && message.channel !== 'error') return
    const text = JSON.stringify(message.data).replaceAll('\\"', '"')
    const name = /"type":"(\w+)"/.exec(text)?.[1] ?? ''
    answers.set(name, message.channel === 'error' ? `error ${text}` : 'ok')
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  for (const type of channels) {
    const subscription = { type, user, coin: 'BTC', interval: '1m' }
    socket.send(JSON.stringify({ method: 'subscribe', subscription }))
    await until(`an answer about ${type}`, () => answers.has(type))
  }
  socket.terminate()
  return answers
}
