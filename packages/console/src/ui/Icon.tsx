/** Shapes of 16 x 16, drawn with a line of 1.5. */
const PATHS = {
  close: 'M4 4l8 8M12 4l-8 8',
  check: 'M3 8.5l3.2 3.2L13 5',
  warning: 'M8 2.2L14.6 13.6H1.4L8 2.2M8 6.4v3.4M8 11.6v.2',
  info: 'M8 1.8a6.2 6.2 0 1 1 0 12.4a6.2 6.2 0 0 1 0-12.4M8 7.2v3.8M8 4.8v.2',
  copy: 'M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3',
  chevronDown: 'M4 6.2l4 4 4-4',
  chevronUp: 'M4 9.8l4-4 4 4',
  chevronLeft: 'M9.8 4l-4 4 4 4',
  chevronRight: 'M6.2 4l4 4-4 4',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  bell: 'M4 11.2V7a4 4 0 0 1 8 0v4.2l1.2 1.3H2.8L4 11.2M6.6 14.2h2.8',
  star: 'M8 2l1.8 3.8 4.1.5-3 2.9.8 4.1L8 11.3l-3.7 2 .8-4.1-3-2.9 4.1-.5L8 2',
  starFilled: 'M8 2l1.8 3.8 4.1.5-3 2.9.8 4.1L8 11.3l-3.7 2 .8-4.1-3-2.9 4.1-.5L8 2',
  search: 'M7 2.5a4.5 4.5 0 1 1 0 9a4.5 4.5 0 0 1 0-9M10.4 10.4l3.4 3.4',
  sun: 'M8 5a3 3 0 1 1 0 6a3 3 0 0 1 0-6M8 1v1.6M8 13.4V15M1 8h1.6M13.4 8H15M3 3l1.2 1.2M11.8 11.8L13 13M13 3l-1.2 1.2M4.2 11.8L3 13',
  moon: 'M13.4 9.6A6 6 0 0 1 6.4 2.6a6 6 0 1 0 7 7',
  system: 'M2 3h12v8H2zM6 14h4M8 11v3',
  markets: 'M2 13.5h12M4 11V7M8 11V3M12 11V5.5',
  trade: 'M4.5 2v2.5M4.5 9.5V14M3 4.5h3v5H3zM11.5 2v4M11.5 11v3M10 6h3v5h-3z',
  portfolio: 'M2 5.5h12v8H2zM5.5 5.5v-3h5v3M2 9h12',
  agents: 'M3.5 6h9v7h-9zM8 6V3M8 2.6v.2M6 9v.6M10 9v.6M1.5 8.5v2M14.5 8.5v2',
  history: 'M2.4 6A6 6 0 1 1 2 8.4M2 2.8V6h3.2M8 4.8V8l2.4 1.6',
  wallet: 'M2 4.5h11v9H2zM2 4.5l8.5-2.2v2.2M10 9h3',
  plus: 'M8 3v10M3 8h10',
  minus: 'M3 8h10',
  edit: 'M3 13l.6-2.8L10.8 3l2.2 2.2-7.2 7.2L3 13',
  trash: 'M3 4.5h10M6 4.5v-2h4v2M4.2 4.5l.6 9h6.4l.6-9M6.8 7v4M9.2 7v4',
  download: 'M8 2v8M4.8 7.2L8 10.4l3.2-3.2M2.5 13.5h11',
  external: 'M6 3H3v10h10v-3M9 2.5h4.5V7M13.5 2.5L7.5 8.5',
  refresh: 'M13.4 5.4A6 6 0 1 0 14 8.6M13.6 2.4v3.2h-3.2',
  clock: 'M8 2a6 6 0 1 1 0 12A6 6 0 0 1 8 2M8 4.8V8l2.4 1.6',
  bolt: 'M9 1.8L3.4 9H8l-1 5.2L12.6 7H8l1-5.2',
  key: 'M5 8.2a2.9 2.9 0 1 1 0 5.8a2.9 2.9 0 0 1 0-5.8M7 9l6-6M10.4 5.6l2 2',
  pause: 'M5.5 3v10M10.5 3v10',
  play: 'M4.5 2.8l8 5.2-8 5.2z',
  keyboard: 'M1.5 4h13v8h-13zM4 6.6v.2M6.6 6.6v.2M9.2 6.6v.2M11.8 6.6v.2M5 9.4h6',
  question: 'M5.6 5.8a2.5 2.5 0 1 1 3.6 2.2c-.8.4-1.2.8-1.2 1.7M8 12v.2',
  arrowUp: 'M8 13V3M4 7l4-4 4 4',
  arrowDown: 'M8 3v10M4 9l4 4 4-4',
  filter: 'M2 3h12l-4.6 5.4V13l-2.8-1.4V8.4L2 3',
  drag: 'M3 6h10M3 10h10',
} as const

export type IconName = keyof typeof PATHS

export interface IconProps {
  readonly name: IconName
  /** Side in pixels. Default 16. */
  readonly size?: number | undefined
}

/** A picture that stands beside words; screen readers skip it. */
export function Icon({ name, size = 16 }: IconProps) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path
        d={PATHS[name]}
        fill={name === 'starFilled' ? 'currentColor' : 'none'}
        stroke="currentColor"
        stroke-width="1.5"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}
