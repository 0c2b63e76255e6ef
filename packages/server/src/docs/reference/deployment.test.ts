import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { CHAINS, parseAddress } from '@bezel/protocol'
import { SANDBOX_MARKER_NAME } from '@bezel/protocol/dataFolder'
import { adaptCode, deploymentOf, type Deployment } from './deployment.ts'

const OWN_DIAMOND = parseAddress('0x09bDa267Fd9db2a5586fed3870B758Ce4E5c60E2')!
const LIVE = { slug: 'base', diamond: CHAINS.base.liveDiamond } as const
const LOCAL = { slug: 'polygon', diamond: OWN_DIAMOND } as const
const OPTIONS = { chainsFile: '/nowhere/devnet.json', publicUrl: undefined, headerPrefix: 'X-Service-' }

describe('deploymentOf', () => {
  it('names the public address, else the one that is listened on', () => {
    const named = deploymentOf({ ...OPTIONS, chains: [LIVE], publicUrl: 'https://bezel.example' }, [])
    assert.deepEqual([named.baseUrl, named.isNamed], ['https://bezel.example', true])
    for (const [address, family, url] of [
      ['127.0.0.1', 'IPv4', 'http://127.0.0.1:9090'],
      ['0.0.0.0', 'IPv4', 'http://127.0.0.1:9090'],
      ['::', 'IPv6', 'http://127.0.0.1:9090'],
      ['fd00::1', 'IPv6', 'http://[fd00::1]:9090'],
    ] as const) {
      const found = deploymentOf({ ...OPTIONS, chains: [LIVE] }, [{ address, family, port: 9090 }])
      assert.deepEqual([found.baseUrl, found.isNamed], [url, false])
    }
  })

  it('is a sandbox only beside the marker of a local chain, and never with a live Diamond', () => {
    const folder = mkdtempSync(join(tmpdir(), 'bezel-docs-'))
    try {
      const chainsFile = join(folder, 'devnet.json')
      const isSandbox = (...chains: (typeof LIVE | typeof LOCAL)[]): boolean =>
        deploymentOf({ ...OPTIONS, chainsFile, chains }, []).isSandbox
      assert.equal(isSandbox(LOCAL), false)
      writeFileSync(join(folder, SANDBOX_MARKER_NAME), '{}')
      assert.equal(isSandbox(LOCAL), true)
      assert.equal(isSandbox(LOCAL, LIVE), false)
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  it('names a Diamond where it is not the live one', () => {
    const { chains } = deploymentOf({ ...OPTIONS, chains: [LIVE, LOCAL] }, [])
    assert.deepEqual(chains, [
      { slug: 'base', diamond: undefined },
      { slug: 'polygon', diamond: OWN_DIAMOND },
    ])
  })
})

describe('adaptCode', () => {
  const of = (slug: 'base' | 'arbitrum-sepolia'): Deployment => ({
    baseUrl: 'https://bezel.example',
    isNamed: true,
    chains: [
      { slug: 'polygon', diamond: undefined },
      { slug, diamond: undefined },
    ],
    isSandbox: false,
    headerPrefix: 'X-Service-',
  })
  const page = [
    'On arbitrum-sepolia, at `http://127.0.0.1:8080/docs`, `arbitrum-sepolia`:',
    '```sh\ncurl http://127.0.0.1:8080/v1/arbitrum-sepolia\n```',
    "```js\nconnect('ws://127.0.0.1:8080/v1/arbitrum-sepolia/ws')\n```",
    '```json\n{"chain": "arbitrum-sepolia", "url": "http://127.0.0.1:8080"}\n```',
  ].join('\n')

  it('puts address and chain into code, and leaves text and recorded answers alone', () => {
    assert.equal(
      adaptCode(page, of('base')),
      [
        'On arbitrum-sepolia, at `https://bezel.example/docs`, `arbitrum-sepolia`:',
        '```sh\ncurl https://bezel.example/v1/polygon\n```',
        "```js\nconnect('wss://bezel.example/v1/polygon/ws')\n```",
        '```json\n{"chain": "arbitrum-sepolia", "url": "https://bezel.example"}\n```',
      ].join('\n'),
    )
  })

  it('keeps the chain of the pages where it is served', () => {
    assert.match(adaptCode(page, of('arbitrum-sepolia')), /bezel\.example\/v1\/arbitrum-sepolia\n/)
  })
})
