export interface SkeletonProps {
  /** Number of lines of text that it stands for. Default 1. */
  readonly lines?: number | undefined
  /** CSS width, for instance `7ch`. Default the whole width. */
  readonly width?: string | undefined
  /** CSS height, for instance `320px`. Default a line of text. */
  readonly height?: string | undefined
}

/** A grey shape in the place of what is being loaded, of the same size so that nothing jumps. */
export function Skeleton({ lines = 1, width, height }: SkeletonProps) {
  const style = { ...(width !== undefined && { width }), ...(height !== undefined && { height }) }
  return (
    <span class="skeleton" aria-hidden="true">
      {Array.from({ length: lines }, (_, line) => (
        <span key={line} class="skeleton-line" style={style} />
      ))}
    </span>
  )
}
