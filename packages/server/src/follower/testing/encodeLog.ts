import { diamondAbi, type Hex } from '@bezel/protocol'
import { encodeAbiParameters, encodeEventTopics, type AbiEvent } from 'viem'
import type { DiamondEvent } from '../../chain/events/index.ts'
import type { RawLog } from '../../chain/events/rawLog.ts'

/** The log that the Diamond writes for an event. */
export function encodeLog({ name, args }: DiamondEvent): RawLog {
  const event = diamondAbi.find((item) => item.type === 'event' && item.name === name) as AbiEvent
  const plain = event.inputs.filter((input) => !input.indexed)
  const values = args as Record<string, unknown>
  return {
    topics: encodeEventTopics({ abi: [event], args } as never) as unknown as Hex[],
    data: encodeAbiParameters(
      plain,
      plain.map((input) => values[input.name!]),
    ) as Hex,
  }
}
