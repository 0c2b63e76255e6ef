import { diamondAbi, type Hex } from '@bezel/protocol'
import { encodeAbiParameters, encodeEventTopics, type AbiEvent } from 'viem'
import type { DiamondEvent, RawLog } from '../events.ts'

/** Returns the log that the Diamond emits for an event. */
export function encodeLog({ name, args }: DiamondEvent): RawLog {
  const event = diamondAbi.find((item) => item.type === 'event' && item.name === name) as AbiEvent
  return encodeEvent(event, { ...args })
}

/** Returns the log of an event of any ABI. */
export function encodeEvent(event: AbiEvent, args: Readonly<Record<string, unknown>>): RawLog {
  const plain = event.inputs.filter((input) => !input.indexed)
  return {
    topics: encodeEventTopics({ abi: [event], args } as never).map(singleTopic),
    data: encodeAbiParameters(
      plain,
      plain.map((input) => args[input.name!]),
    ) as Hex,
  }
}

/** Returns a topic of a log; the encoder also makes filters, in which a topic may be a list or missing. */
function singleTopic(topic: string | readonly string[] | null): Hex {
  if (typeof topic !== 'string') throw new Error('an indexed argument is missing')
  return topic as Hex
}
