import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { readTrial } from './operationsTrial.ts'

describe('the commands of docs/operations.md that bring everything up on one machine', () => {
  const parts = readTrial()
  const all = parts.map(({ code }) => code).join('\n')

  it('have every part', () => {
    const needed = [
      'pg_createcluster',
      'redis-server',
      'npm run devnet',
      'PORT=8081',
      'PORT=8082',
      'prometheus --config',
    ]
    for (const words of [...needed, 'pg_dump', 'pg_restore', 'bezel-server restored', 'bezel-server check']) {
      assert.ok(all.includes(words), words)
    }
  })

  it('are understood by a shell', () => {
    const { status, stderr } = spawnSync('bash', ['-n'], { input: all, encoding: 'utf8' })
    assert.deepEqual([status, stderr], [0, ''])
  })

  it('end what they start', () => {
    const ended = parts.at(-1)!.code
    const started = [...all.matchAll(/\$TRIAL\/(\w+\.pid)/g)].map(([, file]) => file!)
    for (const file of started) assert.ok(ended.includes(file), file)
    assert.match(ended, /pg_dropcluster --stop .* bezel_trial/)
  })
})
