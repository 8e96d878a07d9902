// Light or dark: as the system says, or as it was chosen.

const THEME_KEY = 'kiln.theme';

export type Theme = 'light' | 'dark';

class Themes {
  theme = $state<Theme>('light');

  constructor() {
    const kept = localStorage.getItem(THEME_KEY);
    const system = matchMedia('(prefers-color-scheme: dark)');
    this.#set(kept === 'light' || kept === 'dark' ? kept : system.matches ? 'dark' : 'light');
    system.addEventListener('change', (event) => {
      if (!localStorage.getItem(THEME_KEY)) this.#set(event.matches ? 'dark' : 'light');
    });
  }

  toggle(): void {
    const theme = this.theme === 'dark' ? 'light' : 'dark';
    localStorage.setItem(THEME_KEY, theme);
    this.#set(theme);
  }

  #set(theme: Theme): void {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
  }
}

export const themes = new Themes();
