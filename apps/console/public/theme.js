// Sets the theme before the first paint. A file of its own because the content security policy forbids inline scripts.
;(() => {
  let choice = 'system'
  try {
    choice = localStorage.getItem('crux-theme') || 'system'
  } catch {
    // Storage may be blocked; the system's theme is then the answer.
  }
  const dark = choice === 'dark' || (choice === 'system' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.dataset.theme = dark ? 'dark' : 'light'
})()
