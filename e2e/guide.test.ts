import assert from 'node:assert/strict'
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { call, keyIssue, send } from '@bezel/testkit/agentClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'

const GUIDE = new URL('../docs/api.md', import.meta.url)
const STREAM_GUIDE = new URL('../docs/stream.md', import.meta.url)
const CHAIN_PATH = '/v1/arbitrum-sepolia'

describe('the guides', () => {
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

  /** Runs the first program of a page in a child process. Its file lies beside this one, so that it finds viem. */
  async function runProgram(
    page: URL,
    env: Record<string, string>,
    read: (child: ChildProcessByStdio<null, Readable, null>) => Promise<void>,
  ): Promise<void> {
    const file = new URL(`./guide-${process.pid}.mjs`, import.meta.url)
    writeFileSync(file, /```js\n([\s\S]*?)```/.exec(readFileSync(page, 'utf8'))![1]!)
    const child = spawn(process.execPath, [file.pathname], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, BASE: service.url, ...env },
    })
    try {
      await read(child)
    } finally {
      child.kill()
      rmSync(file)
    }
  }

  it('has a program that makes the first trade as it stands there', async () => {
    const env = {
      RPC: devnet.file.chains['arbitrum-sepolia']!.rpcUrl,
      TRADER_KEY: keyOf('trader-1'),
      AGENT_KEY: keyOf('agent-1'),
    }
    await runProgram(GUIDE, env, async (child) => assert.match(await text(child.stdout), /^filled /))
  })

  it('has a program for the stream that hears of the account as it stands there', async () => {
    const trader = privateKeyToAccount(keyOf('trader-1') as Hex)
    const { domain } = (await call(service.url, CHAIN_PATH)).body.signing
    const issued = await send(service.url, 'POST', `${CHAIN_PATH}/api-keys`, await keyIssue(domain, trader, 'guide'))
    await runProgram(STREAM_GUIDE, { API_KEY: issued.body.apiKey }, async (child) => {
      let printed = ''
      for await (const part of child.stdout) {
        printed += String(part)
        const isTold = ['trades', 'orders', 'fills', 'positions', 'account'].every((channel) =>
          printed.includes(`${channel} snapshot`),
        )
        if (isTold) return
      }
      assert.fail(printed)
    })
  })
})
