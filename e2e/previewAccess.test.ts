import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import type { OrderPreview, PositionPreview, TransactionRequest } from '@bezel/protocol'
import { createBezelClient, type BezelClient, type CreateOrderRequest } from '@bezel/sdk'
import { authorization, call, keyIssue, send, type Answer } from '@bezel/testkit/agentClient.ts'
import { patientHttp } from '@bezel/testkit/chainClient.ts'
import { createTradingClient, type TradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import { createWalletClient, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { createInterruption } from '../packages/cli/src/commands/interruption.ts'
import type { PromptInput } from '../packages/cli/src/keys/readPassword.ts'
import { runCli } from '../packages/cli/src/runCli.ts'

const CHAIN = '/v1/arbitrum-sepolia'
const ORDER: CreateOrderRequest = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
const QUERY = '?market=BTC-USD&side=long&type=market&size=0.02&leverage=10'

describe('previews, from everywhere', () => {
  let world: TradingWorld
  let client: TradingClient
  let sdk: BezelClient
  let apiKey: string

  before(async () => {
    // No round over the accounts comes while these tests run: what a trader sends itself is seen in its block.
    world = await startTradingWorld({ service: { BEZEL_ACCOUNT_REFRESH_MS: '600000' } })
    client = await world.clientOf('trader-1', 'agent-1')
    const { domain } = (await call(world.url(), CHAIN)).body.signing
    const issue = await keyIssue(domain, client.trader, 'preview')
    apiKey = (await send(world.url(), 'POST', `${CHAIN}/api-keys`, issue)).body.apiKey
    const { trader, agent } = client
    const { diamond } = world.chain
    const basics = { baseUrl: world.url(), chain: 'arbitrum-sepolia', diamond, trader: trader.address } as const
    sdk = createBezelClient({ ...basics, agent, apiKey })
  })
  after(() => world?.stop())

  const path = (rest: string, address: string = client.trader.address): string =>
    `${CHAIN}/account/${address}/preview/${rest}`
  const byKey = (rest: string, address?: string): Promise<Answer> =>
    call(world.url(), path(rest, address), { headers: { 'x-service-api-key': apiKey } })

  async function sendAsTrader({ to, data }: Pick<TransactionRequest, 'to' | 'data'>): Promise<void> {
    const transport = patientHttp(world.devnet.file.chains['arbitrum-sepolia']!.rpcUrl)
    const wallet = createWalletClient({ account: client.trader, transport })
    const hash = await wallet.sendTransaction({ to: to as Hex, data: data as Hex, chain: null })
    await world.chain.client.waitForTransactionReceipt({ hash })
  }

  async function allow(amount: bigint): Promise<void> {
    const args = [world.chain.diamond, amount] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
    await sendAsTrader({ to: world.chain.collateral('USDC').address, data })
  }

  it('are open to a read-only key, which names the agent whose rights it asks for', async () => {
    const own = await byKey(`order${QUERY}`)
    assert.equal(own.status, 200, JSON.stringify(own.body))
    assert.deepEqual([own.body.spend, own.body.missing], [null, []])
    const named = await byKey(`order${QUERY}&agent=${client.agent.address}`)
    assert.equal(named.body.spend.agent, client.agent.address)
    const stranger = await byKey(`order${QUERY}&agent=${world.chain.account('agent-2').address}`)
    assert.deepEqual([stranger.status, stranger.body.code], [404, 'AGENT_NOT_FOUND'])
    const other = await byKey(`order${QUERY}`, world.chain.account('trader-2').address)
    assert.deepEqual([other.status, other.body.code], [403, 'TRADER_MISMATCH'])
    const nobody = await call(world.url(), path(`order${QUERY}`))
    assert.deepEqual([nobody.status, nobody.body.code], [401, 'UNAUTHENTICATED'])
  })

  it('tell a key of the delegation that an agent lacks, and refuse the agent itself with it', async () => {
    const agent = world.chain.account('agent-3')
    const { domain } = (await call(world.url(), CHAIN)).body.signing
    const made = await send(world.url(), 'POST', `${CHAIN}/agents`, await authorization(domain, client.trader, agent))
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const { missing } = (await byKey(`order${QUERY}&agent=${agent.address}`)).body as OrderPreview
    assert.deepEqual(
      missing.map(({ kind, code }) => [kind, code]),
      [['delegation', 'AGENT_NOT_DELEGATED']],
    )
    const own = await createTradingClient(world, client.trader, agent)
    const { status, body } = await own.account(`/preview/order${QUERY}`, 'previewOrder')
    assert.deepEqual([status, body.code], [403, 'AGENT_NOT_DELEGATED'], JSON.stringify(body))
    assert.deepEqual(body.details.delegationTx, missing[0]!.transaction)
  })

  it('say what the order itself would be told: the same refusals and the same warnings', async () => {
    const market = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' }
    const limit = { ...market, type: 'limit', price: '90000' }
    const preview = (body: Record<string, string>): Promise<Answer> =>
      byKey(`order?${new URLSearchParams(body).toString()}`)
    const create = (body: Record<string, string>): Promise<Answer> =>
      client.request('createOrder', 'POST', '/orders', body)
    for (const [body, code, errorName] of [
      [{ ...market, sl: '61000' }, 'SIMULATION_REVERTED', 'TradeSlInvalid'],
      [{ ...market, tp: '59000' }, 'SIMULATION_REVERTED', 'TradeTpInvalid'],
      // The contracts measure it from the price of the order, and move it to where the price has passed it.
      [{ ...limit, sl: '56000' }, 'UNSUPPORTED', undefined],
    ] as const) {
      const [told, made] = [await preview(body), await create(body)]
      assert.deepEqual([told.status, told.body.code, told.body.details.errorName], [422, code, errorName])
      assert.deepEqual(
        [made.status, made.body.code, made.body.details.errorName, made.body.message],
        [422, code, errorName, told.body.message],
      )
    }
    const { warnings, oraclePrice } = (await preview(limit)).body as OrderPreview
    assert.deepEqual(
      warnings.map(({ code, field, asked }) => [code, field, asked]),
      [['marketable', 'price', '90000']],
    )
    assert.equal(oraclePrice, '60000')
    const { body: made } = await create(limit)
    assert.deepEqual(made.warnings, warnings)
    const { body: ended } = await client.request('cancelOrder', 'DELETE', `/orders/${made.order.id}`)
    assert.equal(ended.order.status, 'expired')
  })

  it('refuse a bad query by the names of its parameters', async () => {
    const issuesOf = async (rest: string): Promise<string[]> => {
      const { status, body } = await byKey(rest)
      assert.deepEqual([status, body.code], [400, 'VALIDATION_ERROR'], JSON.stringify(body))
      return body.details.issues.map((issue: { path: string }) => issue.path)
    }
    assert.deepEqual(await issuesOf('order?market=BTC-USD&side=up&type=market&size=0.02'), [
      'query.leverage',
      'query.side',
    ])
    assert.deepEqual(await issuesOf(`order${QUERY}&clientId=1`), ['query.clientId'])
    assert.deepEqual(await issuesOf(`order${QUERY}&simulate=maybe`), ['query.simulate'])
    assert.deepEqual(await issuesOf(`order${QUERY}&size=0.03`), ['query.size'])
    assert.deepEqual(await issuesOf(`order${QUERY.replace('type=market', 'type=limit')}`), ['query.price'])
    assert.deepEqual(await issuesOf(`order${QUERY}&slippage=99`), ['query.slippage'])
    assert.deepEqual(await issuesOf('position/1?addCollateral=1&removeCollateral=1'), ['query.removeCollateral'])
    const unknown = await byKey('close/999')
    assert.deepEqual([unknown.status, unknown.body.code], [404, 'POSITION_NOT_FOUND'])
  })

  it('weigh as much as five reads when they ask the node', async () => {
    const remaining = async (rest: string): Promise<number> =>
      Number((await byKey(rest)).headers.get('ratelimit-remaining'))
    const plain = await remaining(`order${QUERY}`)
    const simulated = await remaining(`order${QUERY}&simulate=true`)
    // A new minute starts the count anew.
    if (simulated < plain) assert.equal(plain - simulated, 5)
  })

  it('name a missing allowance with the transaction that mends it, from the account that the service knows', async () => {
    await allow(1n)
    const lacking = await until('the service knows the allowance', async (saw) => {
      const preview: OrderPreview = await sdk.preview.order(ORDER)
      saw(preview.missing)
      return preview.missing.length === 1 ? preview : undefined
    })
    const [missing] = lacking.missing
    assert.deepEqual([missing!.kind, missing!.needed, missing!.available], ['allowance', lacking.deposit, '0.000001'])
    const { simulation } = await sdk.preview.order(ORDER, { simulate: true })
    assert.equal(simulation!.passed, false)

    await sendAsTrader(missing!.transaction!)
    const simulated = await sdk.preview.order(ORDER, { simulate: true })
    assert.deepEqual([simulated.missing, simulated.simulation!.passed], [[], true], 'a simulation reads it anew')
    await until(
      'the service knows the new allowance',
      async () => (await sdk.preview.order(ORDER)).missing.length === 0,
    )
    const { fill } = await client.trade({ ...ORDER }, 'filled')
    assert.deepEqual([fill!.collateral, fill!.feeCollateral], [lacking.collateral, lacking.feeCollateral])
  })

  it('are shown by the command line, which asks before it sends away from the local chain', async () => {
    await allow(10n ** 12n)
    const [position] = await sdk.positions.list()
    const { privateKey } = world.devnet.file.accounts.find(({ name }) => name === 'agent-1')!
    const away = {
      BEZEL_DATA: '/nowhere',
      BEZEL_URL: world.url(),
      BEZEL_CHAIN: 'arbitrum-sepolia',
      BEZEL_RPC_URL: world.devnet.file.chains['arbitrum-sepolia']!.rpcUrl,
      BEZEL_DIAMOND: world.chain.diamond,
      BEZEL_AGENT_KEY: privateKey,
      BEZEL_TRADER: client.trader.address,
    }
    async function bezel(line: string, typed?: string) {
      const said = { stdout: '', stderr: '' }
      const stream = (name: keyof typeof said) => ({ write: (text: string) => void (said[name] += text) })
      const code = await runCli({
        argv: line.split(' '),
        env: away,
        stdin: terminal(typed),
        stdout: stream('stdout'),
        stderr: stream('stderr'),
        now: Date.now,
        interruption: createInterruption(),
      })
      return { code, ...said }
    }
    const { id } = position!
    const shown = await bezel(`preview close ${id}`)
    assert.equal(shown.code, 0, shown.stderr)
    assert.match(shown.stdout, /^Close +BTC\/USD short 0\.0\d+, market\nPrice +\d+\.?\d* \(oracle 60000\)\nImpact /)
    assert.match(shown.stdout, /\nPayout +\d+\.\d+ USDC to the wallet\n/)
    assert.ok(
      shown.stdout.split('\n').every((line) => line.length <= 80),
      shown.stdout,
    )
    const json = await bezel(`preview position ${id} --leverage 8 --json`)
    const preview = JSON.parse(json.stdout) as PositionPreview
    assert.deepEqual([preview.positionId, preview.leverage], [id, '8'])
    const order = await bezel('preview order btc short 0.01 --leverage 5 --sl 66000 --simulate')
    assert.match(order.stdout, /\nSimulation +passes\n/)
    assert.ok(
      order.stdout.split('\n').every((line) => line.length <= 80),
      order.stdout,
    )

    const unasked = await bezel(`close ${id}`)
    assert.deepEqual([unasked.code, unasked.stdout], [2, ''])
    assert.match(unasked.stderr, /no terminal to ask on: add --yes/)
    const no = await bezel(`close ${id}`, 'n\r')
    assert.equal(no.code, 130, no.stderr)
    assert.match(
      no.stderr,
      /Payout .*\n[^]*Close position \d+ on arbitrum-sepolia\. Send it\? \[y\/N\] n\nNothing was sent\.\n$/,
    )
    assert.equal((await sdk.positions.list()).length, 1)
    const yes = await bezel(`close ${id}`, 'y\r')
    assert.equal(yes.code, 0, yes.stderr)
    assert.deepEqual(await sdk.positions.list(), [])
    const skipped = await bezel('order BTC/USD long 0.02 --leverage 10 --yes')
    assert.equal(skipped.code, 0, skipped.stderr)
    assert.doesNotMatch(skipped.stderr, /Send it\?/)
  })
})

/** A terminal on which somebody types a line when asked; without one, no terminal. */
function terminal(typed: string | undefined): PromptInput {
  return {
    isTTY: typed !== undefined,
    setRawMode: () => undefined,
    on: (_event, listener) => queueMicrotask(() => listener(Buffer.from(typed ?? ''))),
    off: () => undefined,
    resume: () => undefined,
    pause: () => undefined,
  }
}
