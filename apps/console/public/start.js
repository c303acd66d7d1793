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

  // The settings of the schema library (zod). It asks whether eval works as soon as a schema is made, before any module could tell it
  // not to, and the content security policy would report that on every page.
  globalThis.__zod_globalConfig = { jitless: true }

  // A network that changes while the console loads (a container starts on this machine) aborts its files: ask for them again, a few times.
  const triesMax = 3
  const pauseMs = (tries) => 300 * tries

  // A stylesheet on its own: the page may be in use already.
  const loadStyleAgain = (link) => {
    const tries = Number(link.dataset.tries || 0) + 1
    if (tries > triesMax) return
    const next = link.cloneNode()
    next.dataset.tries = String(tries)
    setTimeout(() => link.replaceWith(next), pauseMs(tries))
  }

  // A script only with the page. Many files fail at once, and are one try.
  const key = 'crux-start-tries'
  let reloading = false
  const reload = () => {
    if (reloading || document.documentElement.dataset.started) return
    try {
      const tries = Number(sessionStorage.getItem(key) || 0) + 1
      if (tries > triesMax) return
      sessionStorage.setItem(key, String(tries))
      reloading = true
      setTimeout(() => location.reload(), pauseMs(tries))
    } catch {
      // Without storage there is no count, and without a count no reload.
    }
  }

  addEventListener(
    'error',
    (event) => {
      const failed = event.target
      if (failed instanceof HTMLScriptElement) reload()
      if (failed instanceof HTMLLinkElement && failed.rel === 'stylesheet') loadStyleAgain(failed)
    },
    true,
  )
})()
