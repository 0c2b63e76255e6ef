import assert from 'node:assert/strict'
import { diamondAbi, type OrderPreview, type PositionPreview } from '@bezel/protocol'
import type { ReceiptEvent } from '@bezel/testkit/chainClient.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { parseEventLogs, type Hex } from 'viem'
import type { SizeWorld } from '../sizePromise/sizeWorld.ts'

/** Length of a window of volume on the local chain. */
const WINDOW_S = 60

/** A trader who asks for previews and then does what they are about. */
export interface PreviewDesk {
  readonly client: TradingClient
  /** Returns a preview of an order that knows everything up to now. */
  order(body: Readonly<Record<string, unknown>>): Promise<OrderPreview>
  close(id: string, body?: Readonly<Record<string, unknown>>): Promise<OrderPreview>
  position(id: string, body: Readonly<Record<string, unknown>>): Promise<PositionPreview>
  /**
   * Takes a preview at the start of a window of volume, then lets something happen. Does both again when the window
   * ended meanwhile, because the volume that counts has changed then.
   */
  still<Preview, Done extends { readonly txHash: Hex }>(
    preview: () => Promise<Preview>,
    act: (preview: Preview) => Promise<Done>,
  ): Promise<{ readonly preview: Preview; readonly done: Done }>
  /** Reads the events of the Diamond in a transaction. */
  events(txHash: Hex): Promise<readonly ReceiptEvent[]>
}

export function openPreviewDesk(world: SizeWorld, client: TradingClient): PreviewDesk {
  async function preview<Answer extends { readonly block: number }>(operation: string, path: string): Promise<Answer> {
    const head = Number(await world.chain.client.getBlockNumber({ cacheTime: 0 }))
    return until(`a preview of block ${head}`, async (saw) => {
      const { status, body } = await client.account(`/preview/${path}`, operation)
      saw(body)
      if (status === 503) return undefined
      assert.equal(status, 200, JSON.stringify(body))
      return body.block >= head ? (body as Answer) : undefined
    })
  }

  async function windowOf(blockNumber: bigint): Promise<number> {
    const { timestamp } = await world.chain.client.getBlock({ blockNumber })
    return Math.floor(Number(timestamp) / WINDOW_S)
  }

  return {
    client,
    order: (body) => preview('previewOrder', `order${queryOf(body)}`),
    close: (id, body = {}) => preview('previewClose', `close/${id}${queryOf(body)}`),
    position: (id, body) => preview('previewPosition', `position/${id}${queryOf(body)}`),
    async still(ask, act) {
      for (let round = 1; ; round += 1) {
        const quiet = await world.quietBlock()
        const asked = await ask()
        const done = await act(asked)
        const { blockNumber } = await world.chain.client.getTransactionReceipt({ hash: done.txHash })
        if ((await windowOf(blockNumber)) === (await windowOf(quiet))) return { preview: asked, done }
        assert.ok(round < 5, 'no window of volume is long enough on this machine')
      }
    },
    async events(txHash) {
      const { logs } = await world.chain.client.getTransactionReceipt({ hash: txHash })
      return parseEventLogs({ abi: diamondAbi, logs }) as ReceiptEvent[]
    },
  }
}

function queryOf(body: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(body).map(([name, value]): [string, string] => [name, String(value)])
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}
