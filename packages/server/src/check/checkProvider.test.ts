import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { checkProvider, judgeChainId, judgeHeadAge } from './checkProvider.ts'

describe('judgeChainId', () => {
  const chain = testChain('base')

  it('takes the id of the chain, and nothing else', () => {
    assert.equal(judgeChainId('0x2105', chain).mark, 'ok')
    for (const said of ['0x1', null, 8453, '', undefined]) assert.equal(judgeChainId(said, chain).mark, 'failure')
    assert.match(judgeChainId('0x1', chain).text, /^It is on chain 1, and base is 8453: correct/)
    assert.match(judgeChainId(null, chain).text, /^It does not say on which chain it is/)
  })
})

describe('judgeHeadAge', () => {
  const marks = (slug: 'arbitrum' | 'base', ages: readonly number[]) => ages.map((age) => judgeHeadAge(age, slug).mark)

  it('warns of an old block by the pace of its chain, and fails after half a minute', () => {
    assert.deepEqual(marks('arbitrum', [0, 3_500, 3_600, 30_000, 30_001]), [
      'ok',
      'ok',
      'warning',
      'warning',
      'failure',
    ])
    assert.deepEqual(marks('base', [7_000, 7_100, 600_000]), ['ok', 'warning', 'failure'])
  })

  it('takes a block of the future for a clock that is behind', () => {
    assert.deepEqual(marks('base', [-2_000, -2_001, -30_001]), ['ok', 'warning', 'failure'])
    assert.match(judgeHeadAge(-40_000, 'base').text, /40 s in the future .*: set the clock/)
  })
})

describe('checkProvider', () => {
  it('never tells the password of an address, which is sent as a header', async () => {
    const provider = { url: 'http://me:password@127.0.0.1:1/' }
    const { findings, usable } = await checkProvider({
      chain: testChain('base'),
      provider,
      now: Date.now,
      progress: () => undefined,
    })
    assert.deepEqual([findings.map(({ mark }) => mark), usable], [['failure'], undefined])
    assert.ok(!findings[0]!.text.includes('me:'))
  })
})
