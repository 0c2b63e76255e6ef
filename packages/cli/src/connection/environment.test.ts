import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { CHAINS } from '@bezel/sdk'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import type { CommandArguments } from '../arguments/readOptions.ts'
import { KeyError, UsageError } from '../errors/cliError.ts'
import { encryptKeystore } from '../keys/keystore.ts'
import { createEnvironment, type Environment } from './environment.ts'

const folder = mkdtempSync(join(tmpdir(), 'bezel-cli-'))

after(() => rmSync(folder, { recursive: true }))

const DIAMOND = '0x00000000000000000000000000000000000000D1'

const NAMES = ['trader-1', 'agent-1', 'trader-2', 'agent-2', 'poor-1'] as const

const accounts = NAMES.map((name) => {
  const privateKey = generatePrivateKey()
  return { name, address: privateKeyToAccount(privateKey).address, privateKey }
})

const addressOf = (name: string): string => accounts.find((account) => account.name === name)!.address

writeFileSync(
  join(folder, 'devnet.json'),
  JSON.stringify({
    chains: {
      base: { rpcUrl: 'http://127.0.0.1:1/base', diamond: DIAMOND },
      'arbitrum-sepolia': { rpcUrl: 'http://127.0.0.1:1/s', diamond: DIAMOND },
    },
    accounts,
    baseUrl: 'http://127.0.0.1:18080',
  }),
)

function open(
  options: Record<string, string> = {},
  env: Record<string, string> = {},
): Environment & { hidden: string[] } {
  const hidden: string[] = []
  const args: CommandArguments = { operands: [], text: (name) => options[name], flag: () => false }
  const input = { on: () => undefined, off: () => undefined, resume: () => undefined, pause: () => undefined }
  const streams = { input, output: { write: () => assert.fail('nothing is asked') } }
  const environment = createEnvironment({
    args,
    env: { BEZEL_DATA: folder, ...env },
    streams,
    now: Date.now,
    hide: (secret) => hidden.push(secret),
  })
  return { ...environment, hidden }
}

const NOWHERE = { BEZEL_DATA: join(folder, 'none') }

describe('where a command goes', () => {
  it('finds a local chain by itself', () => {
    const { baseUrl, chain, rpcUrl, diamond } = open().target
    assert.deepEqual(
      { baseUrl, chain, rpcUrl, diamond },
      {
        baseUrl: 'http://127.0.0.1:18080',
        chain: 'arbitrum-sepolia',
        rpcUrl: 'http://127.0.0.1:1/s',
        diamond: DIAMOND,
      },
    )
    assert.equal(open({ chain: 'base' }).target.rpcUrl, 'http://127.0.0.1:1/base')
    assert.equal(open({ url: 'http://localhost:9/' }).target.rpcUrl, 'http://127.0.0.1:1/s')
  })

  it('takes the first chain of a local chain without arbitrum-sepolia', () => {
    const other = mkdtempSync(join(folder, 'other-'))
    const chains = { polygon: { rpcUrl: 'http://127.0.0.1:1/p', diamond: DIAMOND } }
    writeFileSync(join(other, 'devnet.json'), JSON.stringify({ chains, accounts, baseUrl: 'http://127.0.0.1:18080' }))
    const { chain, rpcUrl } = open({}, { BEZEL_DATA: other }).target
    assert.deepEqual([chain, rpcUrl], ['polygon', 'http://127.0.0.1:1/p'])
  })

  it('takes nothing from a local chain for a service elsewhere', async () => {
    const far = open({ url: 'https://api.example', chain: 'arbitrum' })
    assert.equal(far.target.devnet, undefined)
    assert.equal(far.target.rpcUrl, undefined)
    assert.equal(far.target.diamond, CHAINS.arbitrum.liveDiamond)
    await assert.rejects(
      far.agent(),
      (error) => error instanceof KeyError && /--keystore \(BEZEL_KEYSTORE\)/.test(error.message),
    )
    await assert.rejects(far.tradingClient(), (error) => error instanceof UsageError && /--rpc/.test(error.message))
  })

  it('says how to start a local chain that is away, and where to correct the address of another node', async () => {
    const complaint = (message: RegExp) => ({ code: 'NODE_UNREACHABLE', exitCode: 6, message })
    await assert.rejects(open().tradingClient(), complaint(/^The local chain at 127\.0\.0\.1:1 .* npm start /))
    const elsewhere = open({ rpc: 'http://127.0.0.1:1/key-in-path' })
    await assert.rejects(elsewhere.tradingClient(), complaint(/node at 127\.0\.0\.1:1 does .*--rpc \(BEZEL_RPC_URL\)/))
  })

  it('lets options win over settings, and settings over defaults', () => {
    const env = {
      ...NOWHERE,
      BEZEL_URL: 'http://env:1',
      BEZEL_CHAIN: 'base',
      BEZEL_RPC_URL: 'http://node:1',
      BEZEL_DIAMOND: DIAMOND,
    }
    const byEnv = open({}, env).target
    assert.deepEqual(
      [byEnv.baseUrl, byEnv.chain, byEnv.rpcUrl, byEnv.diamond],
      ['http://env:1', 'base', 'http://node:1', DIAMOND],
    )
    const byOption = open({ url: 'http://opt:1', chain: 'polygon', rpc: 'http://opt:2' }, env).target
    assert.deepEqual([byOption.baseUrl, byOption.chain, byOption.rpcUrl], ['http://opt:1', 'polygon', 'http://opt:2'])
    assert.equal(open({}, NOWHERE).target.baseUrl, 'http://127.0.0.1:8080')
  })

  it('says what is wrong with a name', () => {
    assert.throws(() => open({ chain: 'polgon' }), /Did you mean polygon\?/)
    assert.throws(() => open({ url: 'ftp://x' }), /--url is "ftp:\/\/x"/)
    assert.throws(() => open({ diamond: '0x1' }), /--diamond is "0x1"/)
    assert.throws(() => open({}, { BEZEL_CHIAN: 'base' }), /did you mean BEZEL_CHAIN\?/)
    const broken = mkdtempSync(join(folder, 'broken-'))
    writeFileSync(join(broken, 'devnet.json'), '{')
    assert.throws(() => open({}, { BEZEL_DATA: broken }), /does not describe a local chain/)
  })
})

describe('whose keys a command uses', () => {
  it('those of the local chain, by number or by name', async () => {
    assert.equal((await open().agent()).address, addressOf('agent-1'))
    assert.equal((await open().trader()).address, addressOf('trader-1'))
    for (const as of ['trader-2', 'agent-2', 'trader-2/agent-2']) {
      assert.equal((await open({ as }).agent()).address, addressOf('agent-2'))
      assert.equal((await open({ as }).trader()).address, addressOf('trader-2'))
    }
    assert.equal((await open({ as: 'poor-1/agent-2' }).trader()).address, addressOf('poor-1'))
    assert.throws(() => open({ as: 'poor-1' }), /Name both/)
    assert.equal(
      open().labelOf(addressOf('trader-2').toLowerCase()),
      `${addressOf('trader-2').toLowerCase()} (trader-2)`,
    )
    assert.equal(open().labelOf(DIAMOND), DIAMOND)
    assert.throws(() => open({ as: 'trader-9' }), /no account "trader-9"/)
    assert.throws(() => open({ as: 'trader-1' }, NOWHERE), /none is found here/)
  })

  it('those of the environment before those of the local chain, and a keystore that is named before both', async () => {
    const [fromEnv, fromFile] = [generatePrivateKey(), generatePrivateKey()]
    const keystore = join(folder, 'agent.json')
    writeFileSync(keystore, JSON.stringify(await encryptKeystore(fromFile, 'pw', { n: 1024 })))
    const env = { BEZEL_AGENT_KEY: fromEnv.slice(2), BEZEL_KEYSTORE_PASSWORD: 'pw' }
    assert.equal((await open({}, env).agent()).address, privateKeyToAccount(fromEnv).address)
    const named = open({ keystore }, env)
    assert.equal((await named.agent()).address, privateKeyToAccount(fromFile).address)
    assert.deepEqual(named.hidden, [fromFile.slice(2)])
    assert.equal((await open({ as: 'trader-2' }, env).agent()).address, addressOf('agent-2'))
    await assert.rejects(
      open({}, { ...env, BEZEL_KEYSTORE: keystore }).agent(),
      /Both BEZEL_AGENT_KEY and BEZEL_KEYSTORE are set/,
    )
  })

  it('none that is malformed, and without repeating it', async () => {
    for (const key of ['abc', `0x${'0'.repeat(64)}`, 'f'.repeat(64), `${'ab'.repeat(31)}zz`]) {
      await assert.rejects(
        open({}, { BEZEL_TRADER_KEY: key }).trader(),
        (error) =>
          error instanceof KeyError &&
          error.message.startsWith('BEZEL_TRADER_KEY is no private key') &&
          !error.message.includes(key),
      )
    }
  })

  it('a read-only key where no agent is named, which is never printed', async () => {
    const environment = open({}, { BEZEL_API_KEY: 'bz_secret' })
    const client = await environment.readingClient()
    assert.equal(client.agentAddress, undefined)
    assert.equal(await client.trader(), addressOf('trader-1'))
    assert.deepEqual(environment.hidden, ['bz_secret'])
    const crossed = open({ as: 'trader-2', trader: addressOf('trader-1') }, { BEZEL_API_KEY: 'bz_secret' })
    await assert.rejects(crossed.agentClient(), /--trader names 0x\w+, but --as means 0x\w+\. Name one account\./)
    const elsewhere = await open({ trader: DIAMOND }, { BEZEL_API_KEY: 'bz_secret', ...NOWHERE }).readingClient()
    assert.equal(await elsewhere.trader(), DIAMOND)
  })
})
