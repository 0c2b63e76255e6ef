import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { tmpdir } from 'node:os'
import { after, before, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import type { SigningDomain } from '@bezel/protocol'
import { createWalletClient, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { authorization, call, signedHeaders } from '@bezel/testkit/agentClient.ts'
import { patientHttp } from '@bezel/testkit/chainClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import type { OpenapiDocument, OpenapiOperation } from '../packages/server/src/docs/openapi/openapiDocument.ts'
import type { Tools, Traded } from './generatedClients/programs/tools.ts'

const ROOT = new URL('../', import.meta.url).pathname
const PROGRAMS = join(ROOT, 'e2e/generatedClients/programs')
const RUN_MS = 300_000

/** Settings of a strict compiler, for code that a bundler takes. */
const COMPILER = {
  target: 'esnext',
  lib: ['esnext', 'dom', 'dom.iterable'],
  module: 'preserve',
  moduleResolution: 'bundler',
  types: [],
  noEmit: true,
  strict: true,
  noUncheckedIndexedAccess: true,
  allowImportingTsExtensions: true,
  skipLibCheck: true,
}

/** A generator of clients, with the program that trades with its client. */
interface Generator {
  readonly name: string
  /** Folder of its package: that of the project, or the one that `npm run clients` has installed. */
  readonly packages: string
  readonly command: string
  readonly args: readonly string[]
  readonly program: string
}

/** The folder of the large generators, which `npm run clients` installs and names here. */
const installed = process.env.CLIENT_GENERATORS

const GENERATORS: readonly Generator[] =
  installed === undefined
    ? [
        {
          name: 'openapi-typescript-codegen',
          packages: ROOT,
          command: 'openapi',
          args: ['--input', 'openapi.json', '--output', 'generated', '--useOptions', '--useUnionTypes'],
          program: 'codegen',
        },
      ]
    : [
        {
          name: 'openapi-typescript',
          packages: resolve(installed),
          command: 'openapi-typescript',
          // Without it, a field that has a default is one that a request must have.
          args: ['openapi.json', '--output', 'schema.ts', '--default-non-nullable', 'false'],
          program: 'openapiFetch',
        },
        {
          name: '@hey-api/openapi-ts',
          packages: resolve(installed),
          command: 'openapi-ts',
          args: ['-i', 'openapi.json', '-o', 'generated'],
          program: 'heyApi',
        },
      ]

/** The function that sends requests, also where a client makes programs replace the global one. */
const send = fetch

describe('a client that is generated from the served document', () => {
  let world: TradingWorld
  let domain: SigningDomain
  let document: OpenapiDocument
  let folder: string
  before(async () => {
    world = await startTradingWorld()
    domain = (await call(world.url(), '/v1/arbitrum-sepolia')).body.signing.domain
    document = (await call(world.url(), '/openapi.json')).body
    folder = mkdtempSync(join(tmpdir(), 'bezel-clients-'))
  })
  after(async () => {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true })
    await world?.stop()
  })

  for (const [place, generator] of GENERATORS.entries()) {
    it(`compiles and trades, when ${generator.name} has made it`, async () => {
      const file = await compiled(generator, join(folder, generator.command))
      const { trade } = (await import(pathToFileURL(file).href)) as { trade: (tools: Tools) => Promise<Traded> }
      // Each has a trader and an agent of its own.
      const [trader, agent] = ['trader', 'agent'].map((kind) => world.chain.account(`${kind}-${place + 1}`))
      const { preview, opened, closed, left } = await trade(await toolsOf(trader!, agent!))
      for (const field of ['price', 'size', 'feeCollateral'] as const)
        assert.equal(preview[field], opened[field], field)
      assert.equal(closed.size, opened.size)
      assert.equal(left, 0)
    })
  }

  /** Generates a client, compiles it with its program, and returns the file that holds both. */
  async function compiled({ packages, command, args, program }: Generator, own: string): Promise<string> {
    mkdirSync(own)
    symlinkSync(join(packages, 'node_modules'), join(own, 'node_modules'))
    writeFileSync(join(own, 'openapi.json'), JSON.stringify(document))
    await run([process.execPath, join('node_modules/.bin', command), ...args], own)
    copyFileSync(join(PROGRAMS, 'tools.ts'), join(own, 'tools.ts'))
    const text = readFileSync(join(PROGRAMS, `${program}.ts`), 'utf8')
    await compile(own, 'program.ts', text)
    // The types mean something: a size is a text.
    await assert.rejects(compile(own, 'wrong.ts', text.replace("size: '0.01'", 'size: 0.01')), /error TS2/)
    const outfile = join(own, 'bundle.mjs')
    const entryPoints = [join(own, 'program.ts')]
    await build({ entryPoints, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' })
    return outfile
  }

  async function compile(own: string, file: string, text: string): Promise<void> {
    writeFileSync(join(own, file), text)
    writeFileSync(join(own, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER, files: [file] }))
    await run([join(ROOT, 'node_modules/.bin/tsc'), '-p', own], own)
  }

  async function toolsOf(trader: PrivateKeyAccount, agent: PrivateKeyAccount): Promise<Tools> {
    const { scope: _scope, ...signed } = await authorization(domain, trader, agent, { name: 'generated' })
    const { rpcUrl } = world.devnet.file.chains['arbitrum-sepolia']!
    const wallets = { trader, agent }
    return {
      baseUrl: world.url(),
      trader: trader.address,
      authorization: {
        ...(signed as Omit<Tools['authorization'], 'scope'>),
        scope: { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' },
      },
      fetch: signedFetch(agent),
      async send(sender, { to, data }) {
        const wallet = createWalletClient({ account: wallets[sender], transport: patientHttp(rpcUrl) })
        const hash = await wallet.sendTransaction({ to: to as Hex, data: data as Hex, chain: null })
        assert.equal((await world.chain.client.waitForTransactionReceipt({ hash })).status, 'success')
        return hash
      },
      filled: (read) =>
        until('the order is filled', async (saw) => {
          const order = await read()
          saw(order)
          return order.status === 'filled' ? order : undefined
        }),
    }
  }

  /** Returns a fetch that signs as the document says, which is all that a generated client needs. */
  function signedFetch(agent: PrivateKeyAccount): typeof fetch {
    return async (input, init) => {
      const request = new Request(input, init)
      // A client that takes no fetch of its own replaces the global one, which wallets use too.
      if (!request.url.startsWith(world.url())) return send(request)
      const { pathname, search } = new URL(request.url)
      const { operationId: operation, security } = operationOf(request.method, pathname)
      if (security === undefined) return send(request)
      const body = await request.clone().text()
      const { method } = request
      const signed = { operation, method, path: pathname + search, ...(body === '' ? {} : { body }) }
      const headers = await signedHeaders(domain, agent, signed)
      for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
      return send(request)
    }
  }

  function operationOf(method: string, path: string): OpenapiOperation {
    const found = Object.entries(document.paths).find(
      ([template, methods]) =>
        Object.hasOwn(methods, method.toLowerCase()) &&
        new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
    )
    assert.ok(found !== undefined, `${method} ${path} is no operation`)
    return found[1][method.toLowerCase()]!
  }
})

/** Runs a command. Throws what it has printed when it fails. */
async function run([file, ...args]: readonly [string, ...string[]], cwd: string): Promise<void> {
  try {
    await promisify(execFile)(file, args, { cwd, timeout: RUN_MS })
  } catch (error) {
    const { message, stdout, stderr } = error as Error & { stdout?: string; stderr?: string }
    throw new Error([message, stdout, stderr].join('\n'), { cause: error })
  }
}
