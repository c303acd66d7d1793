import { cx } from './class-names.ts'

/** A user's initials in a circle. `color` is the editor's own colour from the live channel. */
export function Avatar({ name, color, size = 'md' }: { name: string; color?: string; size?: 'sm' | 'md' }) {
  return (
    <span
      aria-hidden
      title={name}
      // The letters are drawn as an image, so that they are not part of the accessible name of a surrounding button.
      data-initials={toInitials(name)}
      style={
        color ? { background: `color-mix(in oklch, ${color} 45%, var(--surface))`, color: 'var(--ink)' } : undefined
      }
      className={cx(
        'grid shrink-0 place-items-center rounded-full border-2 border-canvas bg-accent-soft font-semibold text-accent select-none before:content-[attr(data-initials)]',
        size === 'md' ? 'size-[26px] text-[11px]' : 'size-[20px] text-[9px]',
      )}
    />
  )
}

/** First two letters of a single word, else first letters of the first and last parts. */
export function toInitials(name: string): string {
  const parts = name.trim().split(/\s+/)
  const first = parts[0] ?? ''
  const last = parts.at(-1) ?? ''
  const pair = parts.length > 1 ? first.slice(0, 1) + last.slice(0, 1) : first.slice(0, 2)
  return pair.toUpperCase()
}
