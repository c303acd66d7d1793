// Runs before anything else. A file of its own because the content security policy forbids inline scripts.
;(() => {
  // The theme, before the first paint.
  let choice = 'system'
  try {
    choice = localStorage.getItem('crux-theme') || 'system'
  } catch {
    // Storage may be blocked; the system's theme is then the answer.
  }
  const dark = choice === 'dark' || (choice === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'

  // A network that changes while the console loads (a container starts on this machine) aborts its files: load anew, a few times.
  const key = 'crux-start-tries'
  const retry = () => {
    if (document.documentElement.dataset.started) return
    try {
      const tries = Number(sessionStorage.getItem(key) || 0)
      if (tries >= 3) return
      sessionStorage.setItem(key, String(tries + 1))
      setTimeout(() => location.reload(), 300 * (tries + 1))
    } catch {
      // Without storage there is no count, and without a count no reload.
    }
  }
  addEventListener(
    'error',
    (event) => {
      const failed = event.target
      if (failed instanceof HTMLScriptElement || (failed instanceof HTMLLinkElement && failed.rel === 'stylesheet'))
        retry()
    },
    true,
  )
})()
