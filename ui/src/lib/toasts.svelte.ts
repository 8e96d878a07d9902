// Short notes at the edge of the page.

export interface Toast {
  id: number;
  text: string;
}

class Toasts {
  all = $state<Toast[]>([]);
  #next = 0;

  add(text: string): void {
    const id = this.#next++;
    this.all.push({ id, text });
    setTimeout(() => this.remove(id), 6000);
  }

  remove(id: number): void {
    this.all = this.all.filter((it) => it.id !== id);
  }
}

export const toasts = new Toasts();
