import { mount } from 'svelte';
import App from './App.svelte';
import './app.css';
import { loadConfig } from './lib/config';

const target = document.getElementById('app');
if (target) {
  await loadConfig();
  mount(App, { target });
}
