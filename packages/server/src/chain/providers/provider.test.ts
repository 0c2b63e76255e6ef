import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, it } from 'node:test'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import type { RpcCall } from '../rpcClient.ts'
import { createProvider, createRpcClient, type ProviderOptions } from './provider.ts'
import { ProviderError } from './refusals.ts'

interface Asked {
  readonly id: number
  readonly method: string
}

type Answer = (calls: readonly Asked[], response: ServerResponse, request: IncomingMessage) => void

const CALLS: readonly RpcCall[] = [
  { method: 'a', params: [] },
  { method: 'b', params: [] },
]
const OUTCOMES = [
  { ok: true, result: 'a!' },
  { ok: true, result: 'b!' },
]

const many = (count: number): RpcCall[] =>
  Array.from({ length: count }, (_, i) => ({ method: `call ${i}`, params: [] }))

describe('a provider', () => {
  let chainId: unknown = '0x1'
  let requests: string[][] = []
  const resultsOf = (calls: readonly Asked[]) =>
    calls.map(({ id, method }) => ({ id, result: method === 'eth_chainId' ? chainId : `${method}!` }))
  const well: Answer = (calls, response) => void response.end(JSON.stringify(resultsOf(calls)))
  let answer = well
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const calls = JSON.parse(text) as Asked[]
    requests.push(calls.map(({ method }) => method))
    answer(calls, response, request)
  })
  const url = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const options = (of: Partial<ProviderOptions> = {}) => ({ url: url(), timeoutMs: 60_000, random: () => 0, ...of })

  /** Runs a test against a node that answers in this way, and returns the requests that it got. */
  async function against(way: Answer, test: () => Promise<void>): Promise<string[][]> {
    requests = []
    answer = way
    try {
      await test()
    } finally {
      answer = well
    }
    return requests
  }

  before(() => new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening)))
  after(() => {
    server.close()
    server.closeAllConnections()
  })

  it('asks nothing more than it is told to when any chain will do, and nothing for nothing', async () => {
    const client = createRpcClient(options())
    const asked = await against(well, async () => {
      assert.deepEqual(await client.batch(CALLS), OUTCOMES)
      assert.deepEqual(await client.batch([]), [])
    })
    assert.deepEqual(asked, [['a', 'b']])
    assert.equal(client.roundTrips(), 1)
  })

  it('checks the chain in the same round trip, once in a while and with every simulation', async () => {
    chainId = '0x66eee'
    let nowMs = 0
    const { send } = createProvider(options({ chainId: 421_614, now: () => nowMs }))
    const simulation: RpcCall = { method: 'eth_call', params: [{ from: '0x1', to: '0x2' }, 'latest'] }
    const asked = await against(well, async () => {
      await send(CALLS)
      await send(CALLS)
      await send([simulation])
      nowMs = 30_000
      await send(CALLS)
    })
    assert.deepEqual(asked, [
      ['a', 'b', 'eth_chainId'],
      ['a', 'b'],
      ['eth_call', 'eth_chainId'],
      ['a', 'b', 'eth_chainId'],
    ])
  })

  it('takes a node of another chain, or of none, for one that did not answer, and says which', async () => {
    for (chainId of ['0x1', '0x066eee', '421614', 421_614, null, undefined, {}]) {
      await assert.rejects(createProvider(options({ chainId: 421_614 })).send(CALLS), { fault: 'wrong_chain' })
    }
    chainId = '0x1'
    const other = createProvider(options({ chainId: 421_614 }))
    await assert.rejects(other.send(CALLS), { message: 'the node is on another chain: it answers 0x1, not 0x66eee' })
    chainId = '0x66eee'
    assert.deepEqual(await other.send(CALLS), OUTCOMES)
  })

  it('never asks for more than a hundred things at once, in the order of the calls', async () => {
    const calls = many(250)
    const asked = await against(well, async () => {
      const outcomes = await createProvider(options({ chainId: 421_614 })).send(calls)
      assert.deepEqual(
        outcomes,
        calls.map(({ method }) => ({ ok: true, result: `${method}!` })),
      )
    })
    assert.deepEqual(
      asked.map(({ length }) => length),
      [100, 99, 52],
    )
  })

  it('learns how many calls a batch may have from each way to refuse one, and remembers it', async () => {
    const refusals: Answer[] = [
      (_, response) => void response.writeHead(413).end('Payload Too Large'),
      (_, response) => void response.writeHead(400).end('{"error":"batch too large"}'),
      (_, response) =>
        void response.end('{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"max batch size is 10"}}'),
      // Geth and nodes made from it: a list of one error, which carries the id of the first call.
      (_, response) =>
        void response.end('[{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"batch too large"}}]'),
      (calls, response) =>
        void response.end(
          JSON.stringify(calls.map(({ id }) => ({ id, error: { code: -32600, message: 'Batch size' } }))),
        ),
    ]
    for (const refuse of refusals) {
      const provider = createProvider(options())
      const limited: Answer = (calls, response, request) =>
        calls.length > 10 ? refuse(calls, response, request) : well(calls, response, request)
      const asked = await against(limited, async () => {
        assert.equal((await provider.send(many(30))).length, 30)
        await provider.send(many(20))
      })
      assert.deepEqual(
        asked.map(({ length }) => length),
        [30, 20, 10, 10, 10, 10, 10],
      )
      assert.equal(provider.limits().batch, 10)
    }
  })

  it('learns it also where the refusal takes the place of the check of the chain', async () => {
    chainId = '0x66eee'
    const geth: Answer = (calls, response, request) => {
      if (calls.length <= 10) return well(calls, response, request)
      response.end('[{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"batch too large"}}]')
    }
    const provider = createProvider(options({ chainId: 421_614 }))
    await against(geth, async () => {
      assert.equal((await provider.send(many(30))).length, 30)
    })
    assert.equal(provider.limits().batch, 5, 'nine calls and the check would go; the next known limit is taken')
  })

  it('takes an error that speaks of a batch for that of its call where other calls are answered', async () => {
    const picky: Answer = (calls, response) => {
      const [first, ...others] = resultsOf(calls)
      response.end(JSON.stringify([{ id: first!.id, error: { code: -32000, message: 'no such batch' } }, ...others]))
    }
    const asked = await against(picky, async () => {
      const outcomes = await createProvider(options()).send(CALLS)
      assert.deepEqual(
        outcomes.map(({ ok }) => ok),
        [false, true],
      )
    })
    assert.equal(asked.length, 1)
  })

  it('asks alone for items that were left out or refused because of the rate', async () => {
    const first = new Set<string>()
    const shaky: Answer = (calls, response) => {
      const answers = resultsOf(calls).map((of, i) => {
        const { method } = calls[i]!
        if (first.has(method)) return of
        first.add(method)
        if (method === 'call 1' || method === 'call 2') return undefined
        return method === 'call 3' ? { id: of.id, error: { code: -32005, message: 'limit exceeded' } } : of
      })
      response.end(JSON.stringify(answers.filter((of) => of !== undefined)))
    }
    const asked = await against(shaky, async () => {
      const outcomes = await createProvider(options()).send(many(5))
      assert.deepEqual(
        outcomes.map((outcome) => outcome.ok && outcome.result),
        ['call 0!', 'call 1!', 'call 2!', 'call 3!', 'call 4!'],
      )
    })
    assert.deepEqual(asked.slice(1), [['call 1', 'call 2', 'call 3']])
  })

  it('gives up a call that is left out again', async () => {
    const deaf: Answer = (calls, response) => void response.end(JSON.stringify(resultsOf(calls).slice(1)))
    await against(deaf, async () => {
      await assert.rejects(createProvider(options()).send(CALLS), /left a call of the batch unanswered/)
    })
  })

  it('does not take an error of the contract or of a range of logs for a limit', async () => {
    const errors = [
      { code: 3, message: 'execution reverted: rate limit', data: '0x' },
      { code: -32005, message: 'query returned more than 10000 results' },
    ]
    const failing: Answer = (calls, response) =>
      void response.end(JSON.stringify(calls.map(({ id }) => ({ id, error: errors[id] }))))
    const asked = await against(failing, async () => {
      const outcomes = await createProvider(options()).send(CALLS)
      assert.deepEqual(
        outcomes.map((outcome) => outcome.ok),
        [false, false],
      )
    })
    assert.equal(asked.length, 1)
  })

  it('waits as long as a provider asks it to, and tells a longer wait', async () => {
    let refused = 0
    const busy: Answer = (calls, response, request) => {
      if (refused++ > 0) return well(calls, response, request)
      response.writeHead(429, { 'retry-after': '0' }).end('slow down')
    }
    await against(busy, async () => {
      assert.deepEqual(await createProvider(options()).send(CALLS), OUTCOMES)
    })
    const full: Answer = (_, response) => void response.writeHead(429, { 'retry-after': '40' }).end('no')
    const asked = await against(full, async () => {
      await assert.rejects(
        createProvider(options()).send(CALLS),
        (error) => error instanceof ProviderError && error.fault === 'limited' && error.retryAfterMs === 40_000,
      )
    })
    assert.equal(asked.length, 1)
  })

  it('sends a password as a header, since addresses with one are refused, and never tells it', async () => {
    let header: string | undefined
    const guarded: Answer = (calls, response, request) => {
      header = request.headers.authorization
      well(calls, response, request)
    }
    const secret = url().replace('http://', 'http://user:p%40ss@')
    await against(guarded, async () => {
      assert.deepEqual(await createProvider(options({ url: secret })).send(CALLS), OUTCOMES)
    })
    assert.equal(header, `Basic ${Buffer.from('user:p@ss').toString('base64')}`)
    const gone = createProvider(options({ url: 'http://user:p%40ss@127.0.0.1:1/' }))
    await assert.rejects(gone.send(CALLS), (error) => error instanceof Error && !/p.{0,3}ss/.test(error.message))
  })

  it('cuts off a node that sends without end, and says so', async () => {
    const fill = (response: ServerResponse): void => {
      if (!response.destroyed) response.write(' '.repeat(65_536), () => fill(response))
    }
    await against(
      (_, response) => fill(response),
      async () => {
        await assert.rejects(createProvider(options({ maxAnswerBytes: 1_000_000 })).send(CALLS), {
          message: 'the node was cut off: the answer has more than 1000000 bytes',
        })
      },
    )
  })

  it('gives a node that is slow more time for many calls than for few', async () => {
    const slow: Answer = (calls, response, request) => void setTimeout(() => well(calls, response, request), 500)
    await against(slow, async () => {
      const hasty = createProvider(options({ timeoutMs: 50 }))
      await assert.rejects(hasty.send(CALLS), /did not answer within 250 ms/)
      assert.equal((await hasty.send(many(80))).length, 80)
    })
  })

  it('says what it got instead of an answer', async () => {
    const html: Answer = (_, response) => void response.writeHead(502).end('<html>bad gateway</html>')
    await against(html, async () => {
      await assert.rejects(createProvider(options()).send(CALLS), /refused the batch: HTTP 502: <html>bad gateway/)
    })
    const cut: Answer = (_, response) => {
      response.write('[{"id":0,')
      response.destroy()
    }
    await against(cut, async () => {
      await assert.rejects(createProvider(options()).send(CALLS), NodeUnavailableError)
    })
  })

  it('sends no more than a second of units in one batch', async () => {
    let nowMs = 0
    const provider = createProvider(options({ unitsPerSecond: 100, now: () => (nowMs += 1_000) }))
    const asked = await against(well, async () => {
      await provider.send(many(8))
    })
    assert.deepEqual(
      asked.map(({ length }) => length),
      [3, 3, 2],
    )
  })

  it('lets a write that is prepared go before reads that wait for units', async () => {
    const clock = { ms: 0 }
    const provider = createProvider(options({ unitsPerSecond: 1_000, now: () => clock.ms }))
    const write = { method: 'eth_call', params: [{ from: '0x1', to: '0x2', data: '0x' }, 'latest'] }
    const read = (method: string): RpcCall => ({ method, params: [] })
    const asked = await against(well, async () => {
      await provider.send(many(38))
      await provider.send([read('lent')])
      const sent = [[read('read 1')], [read('read 2')], [write, read('its delegate')]].map((calls) =>
        provider.send(calls),
      )
      clock.ms = 1_000
      await Promise.all(sent)
    })
    assert.deepEqual(asked.slice(2)[0], ['eth_call', 'its delegate'])
  })

  it('refuses a read at once while too much waits before it, but neither the follower nor a write', async () => {
    const clock = { ms: 0 }
    const provider = createProvider(options({ unitsPerSecond: 100, now: () => clock.ms }))
    const write = { method: 'eth_sendRawTransaction', params: ['0x'] }
    await against(well, async () => {
      await provider.send(many(3))
      const waiting = Array.from({ length: 7 }, () => provider.send(many(3)))
      await assert.rejects(
        provider.send(CALLS),
        (error) => error instanceof ProviderError && error.fault === 'limited' && error.retryAfterMs! > 5_000,
      )
      const served = [...waiting, provider.send(CALLS, 'follower'), provider.send([write])]
      assert.equal(provider.limits().unitsPerSecond, 100, 'and it is not taken for a refusal of the provider')
      await drain(clock, Promise.all(served))
      assert.deepEqual(await provider.send(CALLS), OUTCOMES)
    })
  })
})

/** Lets the clock go on until all that waits is served. */
async function drain(clock: { ms: number }, served: Promise<unknown>): Promise<void> {
  const timer = setInterval(() => (clock.ms += 10_000), 10)
  await served.finally(() => clearInterval(timer))
}
