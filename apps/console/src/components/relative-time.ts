import { formatDuration } from '@crux/rules'

/** "now", "14 min", "2 h 5 min", "3 d 4 h": the console's relative times, in the short form of dense tables. */
export function relativeTime(from: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - from) / 1000))
  if (seconds < 5) return 'now'
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return withRest(`${hours} h`, minutes % 60, 'min', hours < 6)
  const days = Math.floor(hours / 24)
  return withRest(`${days} d`, hours % 24, 'h', days < 3)
}

/** How long something took, in the same format as the server's texts. */
export const duration = formatDuration

/** yyyy-MM-dd HH:mm:ss in the reader's time zone. */
export function absoluteTime(at: number): string {
  const date = new Date(at)
  const two = (value: number) => String(value).padStart(2, '0')
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

const withRest = (text: string, rest: number, unit: string, fine: boolean) =>
  fine && rest > 0 ? `${text} ${rest} ${unit}` : text
