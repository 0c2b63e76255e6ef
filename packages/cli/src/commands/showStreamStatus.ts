import type { StreamStatus } from '@bezel/sdk'
import type { Output } from '../output/createOutput.ts'
import { plainText } from '../output/plainText.ts'

/** Says when live data stops for a while. It goes on by itself. */
export function showStreamStatus(output: Output, status: StreamStatus): void {
  if (status.state !== 'waiting') return
  const seconds = Math.ceil(status.retryInMs / 1000)
  output.note(`The connection is lost (${plainText(status.reason)}). Trying again in ${seconds} s.`)
}
