import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress, parseHex, type Hex } from '@bezel/protocol'
import { toHex } from 'viem'
import type { RpcLog } from '../chain/blocks.ts'
import type { RpcCall, RpcClient, RpcOutcome } from '../chain/rpcClient.ts'
import { askSecond, withLeftOut, type SecondAnswer, type WitnessedClient } from './secondWitness.ts'

const DIAMOND = parseAddress('0x00000000000000000000000000000000000000d1')!
const OTHER = '0x00000000000000000000000000000000000000e2'
const QUESTION: RpcCall = { method: 'eth_getLogs', params: [] }
const SPAN = { from: 10, to: 20 }

const hashOf = (name: string): Hex => parseHex(toHex(name.padEnd(32)))!

function logOf(block: number, logIndex: number, branch = 'main'): RpcLog {
  return {
    blockNumber: block,
    blockHash: hashOf(`${branch} ${block}`),
    txHash: hashOf(`tx ${block}`),
    txIndex: 0,
    logIndex,
    topics: [],
    data: parseHex('0x')!,
  }
}

function jsonOf({ txHash, blockHash, ...log }: RpcLog, address: string = DIAMOND): object {
  const numbers = { blockNumber: toHex(log.blockNumber), logIndex: toHex(log.logIndex), transactionIndex: '0x0' }
  return { ...numbers, address, blockHash, transactionHash: txHash, topics: [], data: '0x' }
}

/** A followed node with the receipts of these logs, beside a second one that gives an answer. */
function clientOf(kept: readonly object[], answer?: RpcOutcome) {
  const asked: RpcCall[] = []
  const blamed: string[] = []
  const client: WitnessedClient = {
    async batch(calls) {
      asked.push(...calls)
      return calls.map(({ params: [txHash] }) => {
        const logs = kept.filter((log) => 'transactionHash' in log && log.transactionHash === txHash)
        return { ok: true, result: logs.length === 0 ? null : { logs } }
      })
    },
    roundTrips: () => 0,
    second: async () => (answer === undefined ? undefined : [answer]),
    leftOutLogs: () => void blamed.push('left out'),
  }
  return { client, asked, blamed }
}

const told = (...logs: readonly RpcLog[]): SecondAnswer => ({ logs, isRefused: false, isHeard: true })

describe('a second provider that is asked for the same logs', () => {
  it('adds those that the followed one left out, in their order, as its receipts have them', async () => {
    const { client, blamed } = clientOf([jsonOf(logOf(12, 3)), jsonOf(logOf(12, 4)), jsonOf(logOf(12, 5), OTHER)])
    const own = [logOf(11, 0), logOf(12, 4), logOf(13, 0)]
    const { logs } = await withLeftOut(client, { diamond: DIAMOND }, { own, second: told(logOf(12, 3)), span: SPAN })
    assert.deepEqual(logs, [logOf(11, 0), logOf(12, 3), logOf(12, 4), logOf(13, 0)])
    assert.deepEqual(blamed, ['left out'])
  })

  it('costs nothing more while both agree, or the second has fewer', async () => {
    const { client, asked } = clientOf([])
    const own = [logOf(11, 0), logOf(12, 0)]
    for (const logs of [own, own.slice(1), []]) {
      const found = await withLeftOut(client, { diamond: DIAMOND }, { own, second: told(...logs), span: SPAN })
      assert.equal(found.logs, own)
    }
    assert.deepEqual(asked, [])
  })

  it('can bring in no log that the receipts of the followed one do not have', async () => {
    const { client, blamed } = clientOf([])
    const own = [logOf(11, 0)]
    const invented = told(logOf(12, 0))
    const { logs } = await withLeftOut(client, { diamond: DIAMOND }, { own, second: invented, span: SPAN })
    assert.equal(logs, own)
    assert.deepEqual(blamed, [])
  })

  it('can bring in none of another branch', async () => {
    const { client, blamed } = clientOf([jsonOf(logOf(12, 0))])
    const own = [logOf(12, 0)]
    const { logs } = await withLeftOut(
      client,
      { diamond: DIAMOND },
      { own, second: told(logOf(12, 0, 'fork')), span: SPAN },
    )
    assert.deepEqual(logs, own)
    assert.deepEqual(blamed, [])
  })

  it('is not heard about other blocks than those that were asked for', async () => {
    const { client, asked } = clientOf([jsonOf(logOf(21, 0)), jsonOf(logOf(9, 0))])
    await withLeftOut(client, { diamond: DIAMOND }, { own: [], second: told(logOf(9, 0), logOf(21, 0)), span: SPAN })
    assert.deepEqual(asked, [])
  })

  it('is asked for parts of a range that its plan refuses', async () => {
    const { client } = clientOf([jsonOf(logOf(30, 1))])
    const ranges: unknown[] = []
    const second = async (calls: readonly RpcCall[]): Promise<RpcOutcome[]> => {
      ranges.push(...calls.flatMap(({ params }) => params))
      return calls.map((_, at) => ({ ok: true, result: at === 2 ? [jsonOf(logOf(30, 1))] : [] }))
    }
    const refused = { logs: [], isRefused: true, isHeard: false }
    const ask = (to: number) =>
      withLeftOut({ ...client, second }, { diamond: DIAMOND }, { own: [], second: refused, span: { from: 10, to } })
    assert.deepEqual(await ask(35), { logs: [logOf(30, 1)], isHeard: true })
    const parts = [
      ['0xa', '0x13'],
      ['0x14', '0x1d'],
      ['0x1e', '0x23'],
    ]
    assert.deepEqual(
      ranges,
      parts.map(([fromBlock, toBlock]) => ({ address: DIAMOND, fromBlock, toBlock })),
    )
    assert.deepEqual(await ask(10_000), { logs: [], isHeard: false }, 'a range of many parts is not asked for')
    assert.equal(ranges.length, parts.length)
  })

  it('says nothing with logs of other contracts, as one that passes over what it was asked for', async () => {
    const answer: RpcOutcome = { ok: true, result: [jsonOf(logOf(12, 0)), jsonOf(logOf(13, 0), OTHER)] }
    const { logs, isHeard } = await askSecond(clientOf([], answer).client, { diamond: DIAMOND }, QUESTION)
    assert.deepEqual({ logs, isHeard }, { logs: [], isHeard: false })
  })

  it('costs few receipts when it tells of many logs that never were, and then is not heard', async () => {
    const { client, asked } = clientOf([])
    const invented = Array.from({ length: 1_000 }, (_, at) => ({ ...logOf(12, at), txHash: hashOf(`none ${at}`) }))
    const found = await withLeftOut(client, { diamond: DIAMOND }, { own: [], second: told(...invented), span: SPAN })
    assert.deepEqual([found, asked.length], [{ logs: [], isHeard: false }, 32])
  })

  it('is heard with all of many logs that were really left out', async () => {
    const many = Array.from({ length: 100 }, (_, at) => ({ ...logOf(12, at), txHash: hashOf(`tx ${at}`) }))
    const { client, asked } = clientOf(many.map((log) => jsonOf(log)))
    const found = await withLeftOut(client, { diamond: DIAMOND }, { own: [], second: told(...many), span: SPAN })
    assert.deepEqual([found, asked.length], [{ logs: many, isHeard: true }, 100])
  })

  it('proves nothing by a receipt that the followed one refuses or garbles, and is asked again', async () => {
    const refusal: RpcOutcome = {
      ok: false,
      code: -32_000,
      message: 'transaction indexing is in progress',
      data: undefined,
    }
    for (const receipt of [refusal, { ok: true, result: { logs: 'garbage' } } as const]) {
      const { client } = clientOf([jsonOf(logOf(13, 0))])
      const batch: RpcClient['batch'] = async (calls) =>
        (await client.batch(calls)).map((outcome, at) => (calls[at]?.params[0] === hashOf('tx 12') ? receipt : outcome))
      const second = told(logOf(12, 0), logOf(13, 0))
      const found = await withLeftOut({ ...client, batch }, { diamond: DIAMOND }, { own: [], second, span: SPAN })
      assert.deepEqual(found, { logs: [logOf(13, 0)], isHeard: false })
    }
  })

  it('says nothing when it refuses, answers garbage or is not there', async () => {
    const refusal: RpcOutcome = { ok: false, code: -32_000, message: 'unknown block', data: undefined }
    for (const answer of [refusal, { ok: true, result: 'garbage' } as const, undefined]) {
      const { logs, isHeard } = await askSecond(clientOf([], answer).client, { diamond: DIAMOND }, QUESTION)
      assert.deepEqual({ logs, isHeard }, { logs: [], isHeard: false })
    }
    const { client } = clientOf([], { ok: true, result: [jsonOf(logOf(12, 0))] })
    assert.deepEqual(await askSecond(client, { diamond: DIAMOND }, QUESTION), told(logOf(12, 0)))
  })
})
