import { oddSegment } from './oddities.ts'
import type { Random } from './random.ts'
import type { Operation } from './surface.ts'

/** Returns the target of an operation with these parameters, as it stands in the request line. */
export function targetOf({ template }: Operation, segments: ReadonlyMap<string, string>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(segments.get(name) ?? ''))
}

/** Returns the target with one segment left out, added or changed. */
export function changedPath(target: string, random: Random): string {
  const [path, ...query] = target.split('?')
  const segments = path!.split('/')
  const at = 1 + random.below(segments.length - 1)
  const changed = (): string[] => {
    switch (random.below(6)) {
      case 0:
        return segments.toSpliced(at, 1)
      case 1:
        return segments.toSpliced(at, 0, oddSegment(random))
      case 2:
        return [...segments, random.pick(['', oddSegment(random)])]
      case 3:
        return segments.with(
          at,
          random.chance(0.5)
            ? segments[at]!.toUpperCase()
            : `%${Buffer.from(segments[at]!).toString('hex').slice(0, 2)}${segments[at]!.slice(1)}`,
        )
      default:
        return segments.with(at, oddSegment(random))
    }
  }
  const made = changed().join('/')
  return [made.startsWith('/') ? made : `/${made}`, ...query].join('?')
}

/** Returns the target with unexpected query parameters. */
export function changedQuery(target: string, random: Random): string {
  const odd = (): string => oddSegment(random).slice(0, 1_000)
  const names = ['limit', 'cursor', 'a', '__proto__', 'limit[]', 'limit[a]', 'constructor', odd()]
  const given = Array.from({ length: 1 + random.below(3) }, () =>
    random.chance(0.8) ? `${random.pick(names)}=${random.pick(['1', '500', '501', '0', odd()])}` : odd(),
  )
  const between = random.pick(['?', '?', '?', '??', '?&', ';', '#'])
  return `${target}${target.includes('?') ? '&' : between}${given.join('&')}`
}
