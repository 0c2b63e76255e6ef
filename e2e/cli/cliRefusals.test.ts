import assert from 'node:assert/strict'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { generatePrivateKey } from 'viem/accounts'
import { startSdkStreamProxy } from '../sdk/sdkStreamProxy.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { createBezelCommand, SLOWER_CHAIN, type BezelCommand, type BezelRun } from './bezelCommand.ts'
import { startTamperingService } from './tamperingService.ts'

const ORDER = 'order BTC/USD long 0.02 --leverage 10 --json'

describe('what the command line says when something is wrong', () => {
  let world: TradingWorld
  let bezel: BezelCommand
  const strangerKey = generatePrivateKey()

  before(async () => {
    world = await startTradingWorld({ devnet: SLOWER_CHAIN, service: { BEZEL_PREPARED_MARKET_MS: '20000' } })
    bezel = createBezelCommand(world)
    const done = await bezel.run('agent authorise --json')
    assert.equal(done.code, 0, done.stderr)
  })
  after(async () => {
    bezel?.close()
    await world?.stop()
  })

  async function refusal(line: string, env: Record<string, string> = {}, clockOffMs = 0) {
    return refusalOf(await bezel.run(line, env, clockOffMs))
  }

  function refusalOf({ code, json: told, stderr }: BezelRun) {
    const json = Array.isArray(told) ? told.at(-1) : told
    assert.equal(json.error.exitCode, code)
    assert.ok(stderr.includes(json.error.message), 'the sentence is on stderr too')
    return { exit: code, code: json.error.code as string, message: json.error.message as string }
  }

  it('a key as an argument is refused and not repeated', async () => {
    const running = bezel.spawn(['--json', '--name', strangerKey.slice(2), 'agent', 'authorise'])
    const told = refusalOf(await running.ended)
    assert.deepEqual([told.exit, told.code], [2, 'USAGE'])
    assert.match(told.message, /never taken from arguments/)
  })

  it('a market that is not there, and a setting that is misspelt', async () => {
    assert.equal((await refusal('price NOPE/USD --json')).exit, 2)
    assert.match((await refusal('markets --json', { BEZEL_CHIAN: 'base' })).message, /did you mean BEZEL_CHAIN\?/)
  })

  it('a key that is malformed, unknown, or behind another password', async () => {
    const malformed = await refusal(ORDER, { BEZEL_AGENT_KEY: strangerKey.slice(0, -2) })
    assert.deepEqual([malformed.exit, malformed.code], [7, 'KEYS'])
    const unknown = await refusal(ORDER, { BEZEL_AGENT_KEY: strangerKey })
    assert.equal(unknown.exit, 3)
    assert.match(unknown.message, /: bezel agent authorise$/)
    // A remedy that leaves out whom it is about would authorise another agent.
    const named = await refusal(`--as trader-3/agent-3 --chain arbitrum-sepolia ${ORDER}`)
    assert.match(named.message, /: bezel agent authorise --as trader-3\/agent-3 --chain arbitrum-sepolia$/)
    const made = await bezel.spawn('agent new --json', { BEZEL_KEYSTORE_PASSWORD: 'Zp4-fits' }).ended
    assert.ok(made.json.keystore.startsWith(join(bezel.home, '.bezel')), made.json.keystore)
    const locked = await refusal(ORDER, { BEZEL_KEYSTORE: made.json.keystore, BEZEL_KEYSTORE_PASSWORD: 'Zp4-fits-not' })
    assert.deepEqual([locked.exit, locked.code], [7, 'KEYS'])
    assert.match(locked.message, /password does not fit .*\. Set BEZEL_KEYSTORE_PASSWORD to the password of \//)
    const silent = await refusal(ORDER, { BEZEL_KEYSTORE: made.json.keystore })
    assert.match(silent.message, /no terminal to ask on/)
    assert.equal((await refusal(`--keystore nowhere.json ${ORDER}`)).exit, 7)
  })

  it('an agent and a trader that do not belong together, whatever is asked', async () => {
    const authorised = await bezel.run('--as trader-2/agent-2 agent authorise --json')
    assert.equal(authorised.code, 0, authorised.stderr)
    const addressOf = (name: string): string => world.chain.account(name).address
    const balances = (): Promise<unknown> =>
      Promise.all(
        ['trader-1', 'trader-2'].map(async (as) => {
          const { json } = await bezel.run(`--as ${as} account --json`)
          return json.balances.map(({ symbol, balance }: Record<string, string>) => [symbol, balance])
        }),
      )
    const untouched = await balances()
    const lines = [ORDER, 'positions --json', 'orders --json', 'account --json', 'watch --json', 'close 1 --json']
    for (const line of lines) {
      const told = await refusal(`--as trader-1/agent-2 ${line}`)
      assert.deepEqual([told.exit, told.code], [3, 'TRADER_MISMATCH'], line)
      assert.ok(told.message.includes(`acts for ${addressOf('trader-2')}, but ${addressOf('trader-1')} is meant`), line)
    }
    const named = await refusal(`--trader ${addressOf('trader-1')} ${ORDER}`, {
      BEZEL_AGENT_KEY: world.devnet.file.accounts.find(({ name }) => name === 'agent-2')!.privateKey,
    })
    assert.equal(named.code, 'TRADER_MISMATCH')
    assert.deepEqual(await balances(), untouched, 'nobody traded')
    // The pair that belongs together trades, and says on which account.
    const traded = await bezel.run(`--as trader-2/agent-2 ${ORDER}`)
    assert.equal(traded.code, 0, traded.stderr)
    assert.equal(traded.json.trader, addressOf('trader-2'))
    const positions = await bezel.run('--as trader-2 positions')
    assert.match(positions.stdout, new RegExp(`Account ${addressOf('trader-2')} \\(trader-2\\)`))
    const none = await bezel.run('positions --json')
    assert.deepEqual(none.json, [])
    assert.match(none.stderr, /Account 0x\w{40} \(trader-1\)/)
  })

  it('an order that was sent, when its agent is revoked during the wait: it was sent', async () => {
    const as = '--as trader-4/agent-4'
    assert.equal((await bezel.run(`${as} agent authorise --json`)).code, 0)
    await world.chain.control('bezel_pauseOracle', true)
    const ordering = bezel.spawn(`${as} ${ORDER}`)
    await ordering.until((_, stderr) => stderr.includes('waiting for the oracle'))
    assert.equal((await bezel.run(`${as} agent revoke --json`)).code, 0)
    const told = refusalOf(await ordering.ended)
    await world.chain.control('bezel_pauseOracle', false)
    assert.deepEqual([told.exit, told.code], [5, 'ORDER_UNWATCHED'])
    assert.match(told.message, /^Transaction 0x\w{64} of order \d+ was sent .*do not send it again.*: AGENT_REVOKED: /)
  })

  it('a chain that is not served, and a node of another chain', async () => {
    const unserved = await refusal('--chain polygon markets --json')
    assert.deepEqual([unserved.exit, unserved.code], [3, 'CHAIN_NOT_FOUND'])
    const { rpcUrl } = world.devnet.file.chains['arbitrum-sepolia']!
    const wrong = await refusal(`--chain base --rpc ${rpcUrl} ${ORDER}`)
    assert.deepEqual([wrong.exit, wrong.code], [7, 'WRONG_CHAIN'])
    assert.match(wrong.message, /chain 421614, but chain 8453 is meant\. Correct --rpc/)
    const silent = await refusal(`--rpc http://127.0.0.1:9/key-in-path ${ORDER}`)
    assert.deepEqual([silent.exit, silent.code], [6, 'NODE_UNREACHABLE'])
    assert.doesNotMatch(silent.message, /key-in-path/)
  })

  it('another Diamond than the known one', async () => {
    const told = await refusal(`--diamond 0x00000000000000000000000000000000000000D1 ${ORDER}`)
    assert.deepEqual([told.exit, told.code], [7, 'WRONG_DIAMOND'])
    assert.match(told.message, /--diamond/)
  })

  it('a clock that is wrong, and by how much', async () => {
    const ahead = await refusal(ORDER, {}, 120_000)
    assert.deepEqual([ahead.exit, ahead.code], [3, 'TIMESTAMP_OUT_OF_WINDOW'])
    const aheadS = Number(/This clock is (\d+\.\d) s ahead of the service's/.exec(ahead.message)?.[1])
    assert.ok(aheadS > 30 && aheadS <= 121, ahead.message)
    const behind = await refusal('positions --json', {}, -90_000)
    const behindS = Number(/This clock is (\d+\.\d) s behind the service's/.exec(behind.message)?.[1])
    assert.ok(behindS >= 89 && behindS < 900, behind.message)
  })

  it('a preparation that is too old to send', async () => {
    const told = await refusal(ORDER, {}, 28_000)
    assert.deepEqual([told.exit, told.code], [7, 'PREPARATION_EXPIRED'])
  })

  it('a prepared transaction that does something else', async () => {
    const service = await startTamperingService(world.url, (calldata) =>
      calldata.replace(/0x(.{8})(.{64})/, `0x$1${'0'.repeat(24)}${'66'.repeat(20)}`),
    )
    try {
      const told = await refusal(ORDER, { BEZEL_URL: service.url })
      assert.deepEqual([told.exit, told.code], [7, 'UNVERIFIED_TRANSACTION'])
      assert.match(told.message, /was not sent/)
    } finally {
      await service.close()
    }
    assert.deepEqual((await bezel.run('positions --json')).json, [])
  })

  it('a refusal of the service, with its code', async () => {
    const told = await refusal('order BTC/USD long 0.02 --leverage 5000 --json')
    assert.deepEqual([told.exit, told.code], [3, 'LEVERAGE_OUT_OF_RANGE'])
    assert.deepEqual(
      [(await refusal('close 999999 --json')).code, (await refusal('cancel 999999 --json')).code],
      ['POSITION_NOT_FOUND', 'ORDER_NOT_FOUND'],
    )
  })

  it('an order that the contracts reject', async () => {
    await world.chain.control('bezel_pauseOracle', true)
    const running = bezel.start(`${ORDER} --slippage 0.1`)
    await running.until((_, stderr) => stderr.includes('waiting for the oracle'))
    await world.setPrice(66_000)
    await world.chain.control('bezel_pauseOracle', false)
    const { code, json, stderr } = await running.ended
    assert.equal(code, 4, stderr)
    assert.equal(json.error.code, 'ORDER_NOT_FILLED')
    assert.equal(json.error.details.order.status, 'rejected')
    assert.match(stderr, /SLIPPAGE: the price moved/)
    await world.setPrice(60_000)
  })

  it('a service that goes away while an order is waited for is waited for too', async () => {
    const proxy = await startSdkStreamProxy(world.url)
    try {
      await world.chain.control('bezel_pauseOracle', true)
      const running = bezel.start(ORDER, { BEZEL_URL: proxy.url })
      await running.until((_, stderr) => stderr.includes('waiting for the oracle'))
      // The order would time out in a start that takes long.
      await Promise.all([world.crash(), world.chain.control('bezel_pauseOracle', false)])
      const { code, json, stderr } = await running.ended
      assert.equal(code, 0, stderr)
      assert.equal(json.status, 'filled')
    } finally {
      await proxy.close()
    }
  })

  it('a service that is not there', async () => {
    const url = world.url()
    await world.stopService()
    for (const line of ['markets --json', ORDER]) {
      const told = await refusal(line, { BEZEL_URL: url })
      assert.deepEqual([told.exit, told.code], [6, 'NETWORK_ERROR'])
      assert.match(told.message, /npm start .*--url \(BEZEL_URL\)/)
    }
    const text = await bezel.run('watch', { BEZEL_URL: url })
    assert.equal(text.code, 6)
    await world.startService()
  })

  it('and never a key, a password or a stack', () => {
    bezel.assertDiscreet([
      strangerKey,
      'Zp4-fits',
      'Zp4-fits-not',
      ...world.devnet.file.accounts.map(({ privateKey }) => privateKey),
    ])
  })
})
