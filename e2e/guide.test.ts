import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { startDevnet, type RunningDevnet } from './devnet/startDevnet.ts'
import { startService, type RunningService } from './startService.ts'

const GUIDE = new URL('../docs/api.md', import.meta.url)

describe('the guide', () => {
  let devnet: RunningDevnet
  let service: RunningService

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '100' })
    service = await startService(devnet)
  })
  after(async () => {
    await service.stop()
    await devnet.stop()
  })

  const keyOf = (name: string): string => devnet.file.accounts.find((account) => account.name === name)!.privateKey

  it('has a program that makes the first trade as it stands there', async () => {
    const program = /```js\n([\s\S]*?)```/.exec(readFileSync(GUIDE, 'utf8'))![1]!
    // Beside this file, so that it finds viem.
    const file = new URL(`./guide-${process.pid}.mjs`, import.meta.url)
    writeFileSync(file, program)
    try {
      const child = spawn(process.execPath, [file.pathname], {
        stdio: ['ignore', 'pipe', 'inherit'],
        env: {
          ...process.env,
          BASE: service.url,
          RPC: devnet.file.chains['arbitrum-sepolia']!.rpcUrl,
          TRADER_KEY: keyOf('trader-1'),
          AGENT_KEY: keyOf('agent-1'),
        },
      })
      assert.match(await text(child.stdout), /^filled /)
    } finally {
      rmSync(file)
    }
  })
})
