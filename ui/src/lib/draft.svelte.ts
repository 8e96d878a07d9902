// A template on its way from the editor to the launch.

class Draft {
  #text: string | null = null;

  put(text: string): void {
    this.#text = text;
  }

  take(): string | null {
    const text = this.#text;
    this.#text = null;
    return text;
  }
}

export const draft = new Draft();
