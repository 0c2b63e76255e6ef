import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createTurns, type Claim } from './turns.ts'

const alone = (key: string): Claim => ({ key, isShared: false })
const shared = (key: string): Claim => ({ key, isShared: true })

describe('turns', () => {
  const enter = (turns = createTurns()) => {
    const entered: string[] = []
    const leave: Record<string, () => void> = {}
    const giveUp: Record<string, () => void> = {}
    const wait = (name: string, ...claims: Claim[]): void => {
      giveUp[name] = turns.wait(claims, (giveBack) => {
        entered.push(name)
        leave[name] = giveBack
      })
    }
    return { entered, leave, giveUp, wait }
  }

  it('lets one in at a time where it is alone, in the order of the calls', () => {
    const { entered, leave, wait } = enter()
    for (const name of ['a', 'b', 'c']) wait(name, alone('k'))
    assert.deepEqual(entered, ['a'])
    leave['a']!()
    assert.deepEqual(entered, ['a', 'b'])
    leave['b']!()
    assert.deepEqual(entered, ['a', 'b', 'c'])
  })

  it('lets in together who share, but not past one who came before and wants to be alone', () => {
    const { entered, leave, wait } = enter()
    wait('a', shared('k'))
    wait('b', shared('k'))
    wait('block', alone('k'))
    wait('c', shared('k'))
    assert.deepEqual(entered, ['a', 'b'])
    leave['b']!()
    leave['a']!()
    assert.deepEqual(entered, ['a', 'b', 'block'])
    leave['block']!()
    assert.deepEqual(entered, ['a', 'b', 'block', 'c'])
  })

  it('holds up nobody on another key', () => {
    const { entered, wait } = enter()
    wait('alice', alone('alice'), shared('chain'))
    wait('alice again', alone('alice'), shared('chain'))
    wait('bob', alone('bob'), shared('chain'))
    assert.deepEqual(entered, ['alice', 'bob'])
  })

  it('lets the next in when one gives up, at any claim', () => {
    const { entered, leave, giveUp, wait } = enter()
    wait('block', alone('chain'))
    wait('alice', alone('alice'), shared('chain'))
    wait('alice again', alone('alice'), shared('chain'))
    giveUp['alice']!()
    leave['block']!()
    assert.deepEqual(entered, ['block', 'alice again'])
    wait('third', alone('alice'), shared('chain'))
    giveUp['third']!()
    giveUp['alice again']!()
    leave['alice again']!()
    wait('block again', alone('chain'))
    assert.deepEqual(entered, ['block', 'alice again', 'block again'])
  })

  it('takes a turn back that came when its owner was about to give up', () => {
    const { entered, leave, giveUp, wait } = enter()
    wait('alice', alone('alice'), shared('chain'))
    wait('block', alone('chain'))
    wait('bob', alone('bob'), shared('chain'))
    giveUp['block']!()
    giveUp['bob']!()
    wait('next block', alone('chain'))
    leave['alice']!()
    assert.deepEqual(entered, ['alice', 'bob', 'next block'])
    wait('bob again', alone('bob'))
    assert.deepEqual(entered.at(-1), 'bob again')
  })
})
