import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { buildConsole, firstPageBytes } from './buildConsole.ts'
import { sourceDigest } from './sourceDigest.ts'

/** Most compressed script that the first page may load, in bytes. */
const FIRST_PAGE_BYTES = 300_000

const scratch = mkdtempSync(join(tmpdir(), 'bezel-console-build-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

describe('the bundle of the console', () => {
  const source = join(scratch, 'source')
  for (const folder of ['node_modules/@acme/paint', 'node_modules/@acme/paint/node_modules/dot']) {
    mkdirSync(join(source, folder), { recursive: true })
  }
  for (const [name, text] of [
    [
      'main.ts',
      "import './main.css'\nimport { shared } from './shared.ts'\nshared()\nvoid import('./later.ts')\nvoid import('./view.ts')\n",
    ],
    [
      'later.ts',
      "import './shared.css'\nimport './later.css'\nimport { shared } from './shared.ts'\nexport const later = shared()\n",
    ],
    ['shared.ts', "import { paint } from '@acme/paint'\nexport const shared = (): string => paint('shared by both')\n"],
    [
      'node_modules/@acme/paint/index.js',
      "/*!\n * @license\n * Paint (c) Acme\n */\nimport { dot } from 'dot'\nexport const paint = (text) => dot + text\n",
    ],
    ['node_modules/@acme/paint/package.json', '{ "name": "@acme/paint", "version": "1.2.3", "license": "Apache-2.0" }'],
    ['node_modules/@acme/paint/LICENSE.md', 'Terms of Acme\n'],
    ['node_modules/@acme/paint/NOTICE', 'Thanks to Acme\n'],
    ['node_modules/@acme/paint/node_modules/dot/index.js', "export const dot = '.'\n"],
    [
      'node_modules/@acme/paint/node_modules/dot/package.json',
      '{ "name": "dot", "version": "0.1.0", "license": "MIT", "author": "Dora" }',
    ],
    ['view.ts', "import './shared.css'\nimport './view.css'\nexport const view = 'another'\n"],
    ['shared.css', '.shared { margin: 2px }\n'],
    ['view.css', '.view { margin: 3px }\n'],
    ['main.css', 'body { margin: 0 }\n'],
    ['later.css', '.later { margin: 1px }\n'],
  ] as const) {
    writeFileSync(join(source, name), text)
  }
  const folder = join(scratch, 'out', 'dist')
  const options = { folder, entry: join(source, 'main.ts') }

  it('has a page that names all its files by their content, without script or style of its own', async () => {
    const built = await buildConsole(options)
    const { firstScripts, viewScripts, sizes } = built
    const page = readFileSync(join(folder, 'index.html'), 'utf8')
    const names = readdirSync(join(folder, 'assets'))
    const scripts = names.filter((name) => name.endsWith('.js'))
    assert.equal(firstScripts.length, 2)
    assert.match(page, new RegExp(`<script type="module" src="/assets/${firstScripts[0]}"></script>`))
    assert.match(page, new RegExp(`<link rel="modulepreload" href="/assets/${firstScripts[1]}" />`))
    const later = scripts.filter((name) => !firstScripts.includes(name))
    assert.ok(!later.some((name) => page.includes(name)), 'what is loaded later is not loaded first')
    assert.equal(Object.keys(viewScripts).length, 2)
    for (const [view, loaded] of Object.entries(viewScripts)) {
      assert.ok(later.includes(view) && loaded.includes(view))
      assert.deepEqual(loaded.slice(0, 2), firstScripts)
    }
    const sizeOf = (name: string): number => sizes[`assets/${name}`]!.br
    const visits = Object.values(viewScripts).map((loaded) => loaded.map(sizeOf).reduce((a, c) => a + c))
    assert.equal(firstPageBytes(built), Math.max(...visits))
    const [style = '', ...more] = names.filter((name) => name.endsWith('.css'))
    assert.deepEqual(more, [])
    assert.ok(page.includes(`<link rel="stylesheet" href="/assets/${style}" />`))
    const rules = readFileSync(join(folder, 'assets', style), 'utf8')
    assert.match(rules, /^body\{[^}]*\}\.shared\{[^}]*\}\.later\{[^}]*\}\.view\{[^}]*\}\s*$/, 'each once, in order')
    assert.match(page, /<link rel="icon" type="image\/svg\+xml" href="\/assets\/icon-[0-9a-f]{8}\.svg" \/>/)
    assert.doesNotMatch(page, /<style|style=|<script(?! type="module" src=)|https?:/)
    for (const path of Object.keys(sizes).filter((name) => name !== 'index.html')) assert.match(path, /-\w{8}\.\w/)
  })

  it('has every file compressed beside it, and no source map', async () => {
    const { sizes } = await buildConsole(options)
    for (const [path, { plain, br, gzip }] of Object.entries(sizes)) {
      const body = readFileSync(join(folder, path))
      const [small, zipped] = [readFileSync(join(folder, `${path}.br`)), readFileSync(join(folder, `${path}.gz`))]
      assert.deepEqual([body.length, small.length, zipped.length], [plain, br, gzip], path)
      assert.deepEqual(brotliDecompressSync(small), body)
      assert.deepEqual(gunzipSync(zipped), body)
    }
    assert.ok(!Object.keys(sizes).some((name) => name.endsWith('.map')))
  })

  it('has the licences of all that it was made from, and a link to them', async () => {
    await buildConsole(options)
    const [own = '', ...others] = readLicences(folder)
    assert.match(own, /^Bezel\n\nMIT License\n/)
    assert.deepEqual(others, [
      '@acme/paint 1.2.3\nApache-2.0\n\nPaint (c) Acme\n\nTerms of Acme\n\nThanks to Acme',
      'dot 0.1.0\nMIT\nDora\nThe package has no file with its licence.',
    ])
  })

  it('is built once for the same sources, and again for others, with nothing left of the old one', async () => {
    let builds = 0
    const counted = { ...options, onBuild: () => (builds += 1) }
    const first = await buildConsole(counted)
    assert.equal(builds, 0)
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...first, digest: 'another' }))
    writeFileSync(join(folder, 'assets', 'old.js'), '')
    assert.deepEqual(await buildConsole(counted), first)
    assert.equal(builds, 1)
    assert.ok(!existsSync(join(folder, 'assets', 'old.js')))
    assert.deepEqual(readdirSync(join(scratch, 'out')), ['dist'])
  })

  it('survives two builds at the same time', async () => {
    rmSync(folder, { recursive: true })
    const [one, other] = await Promise.all([buildConsole(options), buildConsole(options)])
    assert.deepEqual(one, other)
    assert.deepEqual(readdirSync(join(scratch, 'out')), ['dist'])
    assert.ok(existsSync(join(folder, 'manifest.json')))
  })

  it('leaves the bundle that is there when the sources are wrong', async () => {
    writeFileSync(join(source, 'wrong.ts'), "import './nothing.ts'\n")
    const manifest = join(folder, 'manifest.json')
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace(/"digest": "\w+"/, '"digest": "old"'))
    await assert.rejects(buildConsole({ ...options, entry: join(source, 'wrong.ts') }), /nothing\.ts/)
    assert.deepEqual(readdirSync(join(scratch, 'out')), ['dist'])
    assert.match(readFileSync(manifest, 'utf8'), /"digest": "old"/)
  })
})

/** Reads the licences that the page of a bundle links to, one text for each package, that of the project first. */
function readLicences(folder: string): string[] {
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  const [, path = ''] = /<link rel="license" type="text\/plain" href="\/(assets\/licences-\w{8}\.txt)" \/>/.exec(page)!
  return readFileSync(join(folder, path), 'utf8')
    .trim()
    .split(`\n\n${'-'.repeat(80)}\n`)
}

describe('the digest of the sources', () => {
  it('changes with every source, and with no test', () => {
    const root = join(scratch, 'root')
    const write = (path: string, text: string): string => {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), text)
      return sourceDigest(root)
    }
    const seen = new Set([write('packages/console/src/main.tsx', '1')])
    for (const path of [
      'packages/console/src/app/App.tsx',
      'packages/console/src/ui/theme.css',
      'packages/console/index.html',
      'packages/console/build/buildConsole.ts',
      'packages/sdk/src/index.ts',
      'packages/protocol/src/values/chains.ts',
      'package-lock.json',
    ]) {
      for (const text of ['one', 'two']) {
        const digest = write(path, text)
        assert.ok(!seen.has(digest), path)
        seen.add(digest)
      }
    }
    for (const path of ['packages/console/src/router/router.test.ts', 'packages/server/src/run.ts', 'README.md']) {
      assert.ok(seen.has(write(path, 'text')), path)
    }
  })
})

describe('the console', () => {
  it('loads at most 300 KB of compressed script for its first page', async () => {
    const built = await buildConsole()
    const bytes = firstPageBytes(built)
    assert.ok(bytes > 10_000 && bytes <= FIRST_PAGE_BYTES, `${bytes} bytes`)
  })

  it('names the licence of every package in it', async () => {
    await buildConsole()
    const [, ...sections] = readLicences(join(import.meta.dirname, '..', 'dist'))
    const named = sections.map((section) => /^\S+/.exec(section)![0])
    const { metafile } = await build({
      entryPoints: [join(import.meta.dirname, '..', 'src', 'main.tsx')],
      bundle: true,
      write: false,
      metafile: true,
      outdir: scratch,
      loader: { '.svg': 'file', '.css': 'empty' },
      logLevel: 'silent',
    })
    const inputs = Object.keys(metafile.inputs)
    const used = new Set(inputs.flatMap((path) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? []))
    assert.deepEqual(new Set(named), used)
    for (const name of ['lightweight-charts', 'preact', '@preact/signals', 'viem'])
      assert.ok(named.includes(name), name)
    const chart = sections.find((section) => section.startsWith('lightweight-charts '))!
    assert.match(chart, /TradingView Lightweight Charts.*\n.*Copyright.*TradingView, Inc\.[^]*Apache License/)
  })

  it('loads the chart only when it is seen', async () => {
    const { firstScripts, viewScripts } = await buildConsole()
    const folder = join(import.meta.dirname, '..', 'dist', 'assets')
    const names = new Set([firstScripts, ...Object.values(viewScripts)].flat())
    const first = [...names].map((name) => readFileSync(join(folder, name), 'utf8'))
    const all = readdirSync(folder).filter((name) => name.endsWith('.js'))
    // The class that the library of the chart gives to its root element.
    const hasChart = (text: string): boolean => text.includes('tv-lightweight-charts')
    assert.ok(all.some((name) => hasChart(readFileSync(join(folder, name), 'utf8'))))
    assert.ok(!first.some(hasChart))
  })
})
