import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createBezelClient, privateKeySender, type BezelClient } from '@bezel/sdk'
import { until } from '@bezel/testkit/until.ts'
import { Wallet } from 'ethers'
import type { Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { SOON, type SdkWorld } from '../sdk/sdkWorld.ts'
import { signInAs } from './deeds.ts'
import { describeConsole } from './describeConsole.ts'
import type { Visit } from './visit.ts'

const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '5' } as const
const PASSWORD = 'correct horse battery staple'

describeConsole('an agent', {}, (story) => {
  story('is authorised, trades before the eyes of its trader, and is cut off', async ({ world, open }) => {
    const visit = await open({ path: '/agents', wallet: 'trader-2' })
    const { page, at } = visit
    await signInAs(visit)

    await at('agent-new').first().click()
    await at('agent-name').fill('breakout bot')
    await at('agent-generate').click()
    const key = await shownKey(visit)
    const agent = privateKeyToAccount(key)
    await checkKeystore(visit, key)
    await at('scope-leverage').fill('10')
    await at('scope-cap').fill('5000')
    await at('agent-authorise').click()
    await at(`agent-${agent.address}`).waitFor()
    await at(`agent-status-${agent.address}`)
      .filter({ hasText: /delegat/i })
      .waitFor()

    // The key was shown once; what is left to do is still there after a reload.
    await visit.reload()
    await at(`agent-delegate-${agent.address}`).click()
    await at(`agent-status-${agent.address}`)
      .filter({ hasText: /active/i })
      .waitFor()
    assert.ok(!(await page.content()).includes(key))

    const client = await sdkClientOf(world, agent.address, key)
    const { fill } = await (await client.orders.create(ORDER)).waitForFill(SOON)
    await at(`agent-spend-${agent.address}`).filter({ hasText: /[1-9]/ }).waitFor()
    await at('audit')
      .filter({ hasText: /Delegation seen/ })
      .waitFor()
    await at('nav-portfolio').filter({ visible: true }).click()
    await at(`position-${fill.positionId}`).waitFor()

    await at('nav-agents').filter({ visible: true }).click()
    await at(`agent-revoke-${agent.address}`).click()
    await at('confirm').click()
    await at(`agent-status-${agent.address}`)
      .filter({ hasText: /revoked/i })
      .waitFor()
    const refused = await until('the agent is refused', async () => {
      const failure = await client.orders.create(ORDER).then(
        () => undefined,
        (error: unknown) => error as { code?: string },
      )
      return failure?.code
    })
    assert.equal(refused, 'AGENT_REVOKED')

    // The trader still is in charge: the page closes what the agent left open.
    await at('nav-portfolio').filter({ visible: true }).click()
    await at(`position-close-${fill.positionId}`).click()
    await at('confirm').click()
    await at(`position-${fill.positionId}`).waitFor({ state: 'detached' })
  })

  story('reads with a key that its trader issues and ends', async ({ open }) => {
    const visit = await open({ path: '/agents' })
    const { at } = visit
    await signInAs(visit, 'trader-3')
    await at('key-label').fill('tax-report')
    await at('key-new').click()
    await at('key-issued').waitFor()
    await at('key-tax-report').waitFor()
    await visit.reload()
    await at('keys-list').click()
    await at('key-end-tax-report').click()
    await at('key-tax-report').waitFor({ state: 'detached' })
  })
})

/** Reads the key that the page shows once. */
async function shownKey({ at }: Visit): Promise<Hex> {
  return until('the key is shown', async (saw) => {
    const element = at('agent-key')
    const text = `${await element.textContent()} ${await element.inputValue().catch(() => '')}`
    saw(text)
    return /0x[0-9a-f]{64}/i.exec(text)?.[0] as Hex | undefined
  })
}

/** Downloads the key as a keystore, and opens it with another program's code. */
async function checkKeystore({ page, at }: Visit, key: Hex): Promise<void> {
  await at('keystore-password').fill(PASSWORD)
  const [download] = await Promise.all([page.waitForEvent('download'), at('keystore-download').click()])
  const text = readFileSync(await download.path(), 'utf8')
  assert.equal(Wallet.fromEncryptedJsonSync(text, PASSWORD).privateKey, key)
}

/** Returns the client of the agent's program, which runs elsewhere. The sandbox gives it gas. */
async function sdkClientOf(world: SdkWorld, address: Hex, key: Hex): Promise<BezelClient> {
  await world.chain.control('bezel_faucet', address)
  const agent = privateKeyToAccount(key)
  return createBezelClient({
    baseUrl: world.url(),
    chain: 'arbitrum-sepolia',
    agent,
    sender: privateKeySender({ account: agent, rpcUrl: world.rpcUrl }),
    trader: world.chain.account('trader-2').address,
    diamond: world.chain.diamond,
    maxRetries: 60,
  })
}
