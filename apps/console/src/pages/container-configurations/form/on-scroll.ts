/**
 * Runs at once, and once in the frame after the page was scrolled or changed its size, also by content that arrived later. Returns a function
 * that ends that.
 */
export function onScroll(run: () => void): () => void {
  let frame = 0
  const schedule = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0
      run()
    })
  }
  run()
  addEventListener('scroll', schedule, { passive: true })
  addEventListener('resize', schedule)
  const size = new ResizeObserver(schedule)
  size.observe(document.body)
  return () => {
    cancelAnimationFrame(frame)
    removeEventListener('scroll', schedule)
    removeEventListener('resize', schedule)
    size.disconnect()
  }
}
