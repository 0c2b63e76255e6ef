import { useSignal, type ReadonlySignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

/** Returns whether a media query matches, and follows it while the component is mounted. */
export function useMedia(query: string): ReadonlySignal<boolean> {
  const matches = useSignal(matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const follow = () => (matches.value = list.matches)
    follow()
    list.addEventListener('change', follow)
    return () => list.removeEventListener('change', follow)
  }, [query])
  return matches
}
