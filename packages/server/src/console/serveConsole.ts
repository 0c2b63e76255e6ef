import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { refuseUnknownRoute } from '../access/answerError.ts'
import { isLocalRequest, isLoopbackName } from '../access/localRequest.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { prefersHtml } from '../http/negotiation.ts'
import type { SendHome } from '../http/routes/system/getIndex.ts'
import { sendShared } from '../http/sharedAnswer.ts'
import type { ConsolePlace } from '../settings/consolePlace.ts'
import { publicSettings, readSandboxAccounts, sandboxSettings, type ConsoleSettings } from './consoleSettings.ts'

/** The settings that decide about the console. */
export interface ConsoleOptions {
  readonly console: ConsolePlace
  readonly chains: readonly ServedChain[]
  readonly chainsFile: string
  /** Address that the service listens on. */
  readonly host: string
  /** Address under which clients reach the service, if the operator named it. */
  readonly publicUrl: string | undefined
  /** Folder of the bundle. Default: the one that `npm run console` writes. */
  readonly bundleFolder?: string
}

/** First parts of the paths of the views. All of them are the same page, which shows the view that its path names. */
const VIEWS = ['markets', 'trade', 'portfolio', 'agents', 'history', 'system'] as const

/** Cache rule of a file whose name carries a hash of its content. */
const IMMUTABLE = 'public, max-age=31536000, immutable'

const HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
}

const PAGE_HEADERS = {
  ...HEADERS,
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
}

const leadToDocs: SendHome = (_request, reply) => reply.redirect('/docs', 302)

/**
 * Serves the console: the page at `/` and at the path of each view, its files, and `/console.json`. Returns what
 * answers a browser at `/`; that is the way to the documentation where there is no console.
 */
export function serveConsole(app: FastifyInstance, options: ConsoleOptions): SendHome {
  const place = options.console
  if (place === 'off') return leadToDocs
  if (place !== 'on') return leadElsewhere(app, options, place.origin)
  const bundle = readBundle(options.bundleFolder ?? BUNDLE_FOLDER)
  if (bundle === undefined) {
    app.log.warn('the console is not built, so / leads to /docs: run npm run console, then start the service again')
    return leadToDocs
  }
  return serveBundle(app, options, bundle)
}

/** Leads browsers to a console that is served at another origin, whose pages may read `/console.json`. */
function leadElsewhere(app: FastifyInstance, { chains, publicUrl }: ConsoleOptions, origin: string): SendHome {
  const settings = publicSettings(chains, { apiBase: publicUrl ?? '', version: null })
  app.get('/console.json', async (_request, reply) => {
    reply.headers({ ...HEADERS, 'Access-Control-Allow-Origin': origin, Vary: 'Origin' })
    return sendSettings(reply, settings)
  })
  const lead: SendHome = ({ url }, reply) => reply.redirect(origin + url, 302)
  serveViews(app, lead)
  return lead
}

function serveBundle(
  app: FastifyInstance,
  options: ConsoleOptions,
  { page, assets, version }: ConsoleBundle,
): SendHome {
  const told = publicSettings(options.chains, { apiBase: '', version })
  const accounts = readSandboxAccounts(options)
  const own = accounts === undefined ? undefined : sandboxSettings(told, { chains: options.chains, accounts })
  const settingsFor = (request: Caller): ConsoleSettings => (own !== undefined && isOwner(request) ? own : told)

  app.get('/console.json', async (request, reply) => sendSettings(reply.headers(HEADERS), settingsFor(request)))
  app.get<{ Params: { name: string } }>('/assets/:name', async (request, reply) => {
    const asset = assets.get(request.params.name)
    if (asset === undefined) return refuseUnknownRoute(request)
    return sendShared(request, reply.headers(HEADERS), { ...asset, cacheControl: IMMUTABLE })
  })
  const sendPage: SendHome = (request, reply) => {
    const sources = connectSources(settingsFor(request), { host: request.headers.host, publicUrl: options.publicUrl })
    reply.headers({ ...PAGE_HEADERS, 'Content-Security-Policy': policyOf(sources) })
    return sendShared(request, reply, page)
  }
  serveViews(app, sendPage)
  return sendPage
}

/** Answers browsers at the path of each view. Programs that meant another path are told that there is no such route. */
function serveViews(app: FastifyInstance, sendPage: SendHome): void {
  const answer = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    if (!prefersHtml(request.headers.accept)) return refuseUnknownRoute(request)
    return sendPage(request, reply.header('Vary', 'Accept'))
  }
  for (const view of VIEWS) for (const path of [`/${view}`, `/${view}/*`]) app.get(path, answer)
}

type Caller = Parameters<SendHome>[0]

/**
 * True for a browser on this machine that addresses this machine. The name in `Host` tells it from the page of a
 * stranger whose name was made to lead here.
 */
function isOwner(request: Caller): boolean {
  return isLocalRequest(request) && isLoopbackName(request.headers.host)
}

function sendSettings(reply: FastifyReply, settings: ConsoleSettings): FastifyReply {
  return reply
    .header('Cache-Control', 'no-store')
    .type('application/json; charset=utf-8')
    .send(JSON.stringify(settings))
}

/**
 * Lists what the page may connect to: its own service, whose WebSockets older browsers do not count as `'self'`, and on
 * a local chain the chain's nodes. A `Host` header is repeated only when it names this machine.
 */
function connectSources(
  { chains }: ConsoleSettings,
  { host, publicUrl }: { readonly host: string | undefined; readonly publicUrl: string | undefined },
): string {
  const own = publicUrl === undefined ? [] : [new URL(publicUrl).origin.replace(/^http/, 'ws')]
  const local = isLoopbackName(host) ? [`ws://${host}`] : []
  const nodes = chains.flatMap(({ rpcUrl }) => (rpcUrl === null ? [] : [new URL(rpcUrl).origin]))
  return [...new Set(["'self'", ...own, ...local, ...nodes])].join(' ')
}

/** Returns the content security policy of the page: files of this service alone, and no script or style in the page. */
function policyOf(sources: string): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src ${sources}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
}

/** The built console, in memory. */
interface ConsoleBundle {
  /** Digest of the sources that it was built from. */
  readonly version: string
  /** The page that every view starts from. */
  readonly page: BundleFile
  /** Scripts, styles and pictures, by file name. The names carry a hash of the content. */
  readonly assets: ReadonlyMap<string, BundleFile>
}

/** A file with the forms in which it is sent. */
interface BundleFile {
  readonly type: string
  readonly body: Buffer
  readonly compressed: Readonly<Record<'br' | 'gzip', Buffer>>
}

/** The folder that `npm run console` writes. */
const BUNDLE_FOLDER = fileURLToPath(new URL('../../../console/dist/', import.meta.url))

/** Media types by file ending. Files of other endings are not served. */
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

/**
 * Reads the bundle as a whole, so that a build beside a running service changes nothing in it; `undefined` when none
 * was built. The manifest is written last, so a bundle that has one is complete.
 */
function readBundle(folder: string): ConsoleBundle | undefined {
  const manifest = join(folder, 'manifest.json')
  if (!existsSync(manifest)) return undefined
  const { digest } = JSON.parse(readFileSync(manifest, 'utf8')) as { readonly digest: string }
  const names = readdirSync(join(folder, 'assets')).filter((name) => extname(name) in TYPES)
  return {
    version: digest,
    page: readBundleFile(join(folder, 'index.html')),
    assets: new Map(names.map((name) => [name, readBundleFile(join(folder, 'assets', name))])),
  }
}

function readBundleFile(path: string): BundleFile {
  return {
    type: TYPES[extname(path)]!,
    body: readFileSync(path),
    compressed: { br: readFileSync(`${path}.br`), gzip: readFileSync(`${path}.gz`) },
  }
}
