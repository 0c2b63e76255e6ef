import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CHAIN_SLUGS } from '../values/chains.ts'
import {
  chainsSetting,
  choiceSetting,
  hostSetting,
  integerSetting,
  pathSetting,
  portSetting,
  textSetting,
  urlSetting,
} from './settingKinds.ts'
import { describeSettings, readSettings, SettingsError } from './settings.ts'

const TABLE = {
  PORT: portSetting({ what: 'port', default: 8080 }),
  HOST: hostSetting(),
  COUNT: integerSetting({ what: 'count', default: 3, min: 1, max: 5 }),
  COLOUR: choiceSetting({ what: 'colour', default: 'red', choices: ['red', 'blue'] }),
  WORD: textSetting({ what: 'word', default: 'a', pattern: /^[a-z]+$/, allowed: 'small letters' }),
  BEZEL_DATA: pathSetting({ what: 'folder', default: 'var' }),
  DEVNET_CHAINS: chainsSetting({ what: 'chains' }),
} as const

function refusal(env: Record<string, string>): string {
  try {
    readSettings(TABLE, env)
  } catch (error) {
    assert.ok(error instanceof SettingsError)
    return error.message
  }
  return assert.fail('not refused')
}

describe('readSettings', () => {
  it('takes defaults for what is unset or empty', () => {
    const defaults = readSettings(TABLE, { PORT: '', OTHER: 'ignored' })
    assert.deepEqual(defaults, {
      PORT: 8080,
      HOST: '127.0.0.1',
      COUNT: 3,
      COLOUR: 'red',
      WORD: 'a',
      BEZEL_DATA: 'var',
      DEVNET_CHAINS: CHAIN_SLUGS,
    })
  })

  it('reads values', () => {
    const env = {
      PORT: '0',
      HOST: '::1',
      COUNT: '5',
      COLOUR: 'blue',
      WORD: 'xyz',
      BEZEL_DATA: 'd',
      DEVNET_CHAINS: 'base, polygon',
    }
    assert.deepEqual(readSettings(TABLE, env), {
      PORT: 0,
      HOST: '::1',
      COUNT: 5,
      COLOUR: 'blue',
      WORD: 'xyz',
      BEZEL_DATA: 'd',
      DEVNET_CHAINS: ['base', 'polygon'],
    })
  })

  it('says which setting is wrong and what is allowed', () => {
    assert.equal(
      refusal({ PORT: 'abc' }),
      'PORT is "abc", but it must be an integer from 0 to 65535 (0 = any free port).',
    )
    assert.match(refusal({ COUNT: '6' }), /^COUNT is "6", but it must be an integer from 1 to 5\.$/)
    assert.match(refusal({ COLOUR: 'green' }), /one of red, blue\.$/)
    assert.match(refusal({ WORD: 'A' }), /small letters\.$/)
    assert.match(refusal({ HOST: 'a b' }), /^HOST is "a b", but it must be an IP address or a host name\.$/)
    assert.match(refusal({ BEZEL_DATA: 'a\0b' }), /without NUL/)
    assert.match(refusal({ DEVNET_CHAINS: 'base,base' }), /without repetition/)
    assert.match(refusal({ DEVNET_CHAINS: 'base,,polygon' }), /comma-separated/)
    assert.match(refusal({ DEVNET_CHAINS: 'mars' }), /^DEVNET_CHAINS is "mars"/)
  })

  it('refuses unknown names under its prefixes, with a guess where there is one', () => {
    assert.equal(refusal({ BEZEL_DTA: 'x' }), '"BEZEL_DTA" is not a setting of Bezel: did you mean BEZEL_DATA?')
    assert.match(refusal({ DEVNET_PROT: '1' }), /did you mean DEVNET_PORT\?$/)
    assert.match(refusal({ DEVNET_SOMETHING_ELSE: '1' }), /the settings are BEZEL_ACCOUNT_REFRESH_MS, .*DEVNET_SEED$/)
  })

  it("knows the other programs' settings, also a misspelt one without a value", () => {
    assert.doesNotThrow(() => readSettings(TABLE, { BEZEL_HEADER_PREFIX: 'X-A-', DEVNET_SEED: '1' }))
    assert.match(refusal({ BEZEL_DTA: '' }), /did you mean BEZEL_DATA\?$/)
  })

  it('accepts exactly the ports there are', () => {
    for (const text of ['-1', '65536', '1.5', '1e3', '0x50', ' 80', '٣', '99999999999999999999'])
      refusal({ PORT: text })
    fc.assert(
      fc.property(fc.nat(65_535), (port) => assert.equal(readSettings(TABLE, { PORT: String(port) }).PORT, port)),
    )
  })

  it('keeps its sentence on one short line, whatever the value', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 5000, unit: 'binary' }), (text) => {
        fc.pre(!['red', 'blue'].includes(text))
        const message = refusal({ COLOUR: text })
        assert.doesNotMatch(message, /[\n\r]/)
        assert.ok(message.length < 500)
      }),
    )
  })
})

describe('describeSettings', () => {
  it('gives each setting a line with its default', () => {
    const lines = describeSettings(TABLE).split('\n')
    assert.equal(lines.length, Object.keys(TABLE).length)
    assert.match(lines[0]!, /^ {2}PORT {10} port \(default: 8080\)$/)
  })
})

describe('urlSetting', () => {
  const setting = urlSetting({ what: 'server', defaultText: 'worked out' })

  it('takes http and https addresses, with a path but without a slash at the end', () => {
    assert.equal(setting.parse('https://feed.example/prices/'), 'https://feed.example/prices')
    assert.equal(setting.parse('http://127.0.0.1:8545'), 'http://127.0.0.1:8545')
    assert.equal(setting.defaultValue, undefined)
  })

  it('refuses everything else', () => {
    for (const text of [
      'ws://feed',
      'feed.example',
      '/prices',
      'http://',
      'http://a/?x=1',
      'http://a/#b',
      'file:///a',
    ]) {
      assert.equal(setting.parse(text), undefined, text)
    }
  })
})
